// Asks every operation through a client whose types openapi-typescript made, and prints what came.
// Arguments: the server's address, api_key, api_login, and a time for the change feed.
import createClient from "openapi-fetch";
import type { components, paths } from "./service.ts";

const [address = "", key = "", login = "", since = ""] = process.argv.slice(2);
const authorization = `Basic ${Buffer.from(`${key}:${login}`).toString("base64")}`;
const service = createClient<paths>({
  baseUrl: address,
  headers: { Authorization: authorization },
});

function found<Body>(answer: { data?: Body; error?: { error: string } }): Body {
  if (answer.data === undefined) throw new Error(answer.error?.error ?? "no body");
  return answer.data;
}

const entities = "subscribers,orders,customfields";
const order = found(
  await service.GET("/2/orders/{order_id}", { params: { path: { order_id: "71" } } }),
);
const total: number = order.grand_total;
const bundle: string | undefined = order.order_items[0]?.bundle_id;
const imported: string | null = order.import_name;
// @ts-expect-error - an order has no such field
order.total;
// @ts-expect-error - an amount is a number
const text: string = order.grand_total;

const login_check: components["schemas"]["LoginResult"] = found(
  await service.GET("/2/subscribers/authenticate/", {
    params: { query: { login: "nobody", password: "x" } },
  }),
);
if (login_check.authenticated) {
  const issues: string = login_check.subscribers.subscriptions[0]!.issues_left;
  throw new Error(`nobody has ${issues} issues left`);
}

const list = found(
  await service.GET("/2/subscriptions/", {
    params: { query: { type: "Print", limit: 2, min_copies: "1" } },
  }),
);
// @ts-expect-error - there is no such type of subscription
service.GET("/2/subscriptions/", { params: { query: { type: "Radio" } } }).catch(() => {});

const changes = await service.GET("/2/cdc", {
  params: { query: { changed_since: since, entities } },
});
const deletions = await service.GET("/deletions", {
  params: { query: { changed_since: since, entities } },
});
const missing = await service.GET("/2/orders/{order_id}", {
  params: { path: { order_id: "999999999" } },
});
const account = { params: { path: { account_id: "1" } } };
const subscriber = { params: { path: { subscriber_id: "1" } } };
const mailing_list = { params: { path: { mailing_list_id: "81" }, query: { download: true } } };

console.log(
  JSON.stringify({
    "/2/accounts/": found(await service.GET("/2/accounts/")),
    "/2/accounts/1/": found(await service.GET("/2/accounts/{account_id}/", account)),
    "/2/subscribers/authenticate/?login=nobody&password=x": login_check,
    CHANGES: found(changes),
    DELETIONS: found(deletions),
    "/2/customfields/1": found(await service.GET("/2/customfields/{subscriber_id}", subscriber)),
    "/2/customfields/": found(await service.GET("/2/customfields/")),
    "/2/subscriptions/?type=Print&limit=2&min_copies=1": list,
    "/2/subscribers/": found(await service.GET("/2/subscribers/")),
    "/2/orders/71": order,
    "/2/downloadmailinglist/81/": found(
      await service.GET("/2/downloadmailinglist/{mailing_list_id}/", mailing_list),
    ),
    [`/snapshot?entities=${entities}`]: found(
      await service.GET("/snapshot", { params: { query: { entities } } }),
    ),
    "/digest?entities=orders": found(
      await service.GET("/digest", { params: { query: { entities: "orders" } } }),
    ),
    "/health": found(await service.GET("/health")),
    ERROR: [missing.response.status, missing.error?.error],
    SEEN: [total, bundle, imported],
  }),
);
