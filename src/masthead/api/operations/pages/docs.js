// Shows the description in Swagger UI. What is common to all operations is shown once, and the
// fields of a request are filled in with what gets a response.
"use strict";
const address = new URL("../openapi.json", document.currentScript.src);
const daysShown = 2;
const filledIn = new Set(["login", "password", "limit"]);
const charactersShownMax = 20_000;

// Swagger UI has dark colours for this class alone.
const dark = matchMedia("(prefers-color-scheme: dark)");
const setScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", setScheme);
setScheme();

async function show() {
  const shown = await (await fetch(address)).json();
  shown.servers = [{ url: new URL(".", address).href.replace(/\/$/, "") }];
  const operations = Object.values(shown.paths).map((path) => path.get);
  operations.forEach((operation) => (operation.parameters || []).forEach(prepare));
  const common = errorsOfAll(operations);
  showErrors(shown, common);
  const ui = SwaggerUIBundle({
    spec: shown,
    dom_id: "#interface",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    plugins: [() => ({ wrapComponents: { response: unlessIn(common) } })],
    // Without this, the browser would ask for a password at each 401 in a dialog of its own.
    requestInterceptor: (request) => Object.assign(request, { credentials: "omit" }),
    responseInterceptor: shortened,
  });
  const button = document.getElementById("use-demo");
  if (button) button.addEventListener("click", () => useDemo(ui, button));
}

// Swagger UI fills in each example; a filter that nobody asked for would hide records.
function prepare(parameter) {
  if (parameter.name === "changed_since") {
    const since = new Date(Date.now() - daysShown * 24 * 3600 * 1000);
    parameter.example = since.toISOString().slice(0, 19) + "+00:00";
  } else if (!parameter.required && !filledIn.has(parameter.name)) {
    parameter.description += ` For example: \`${parameter.example}\`.`;
    delete parameter.example;
  }
}

// Returns the errors that all operations with credentials have: pairs of a status and a reference.
function errorsOfAll(operations) {
  const all = operations.filter((operation) => !operation.security);
  return Object.entries(all[0].responses).filter(
    ([status, response]) =>
      response.$ref && all.every((operation) => status in operation.responses),
  );
}

// Shows these errors in one table; unlessIn leaves them out of each operation.
function showErrors(shown, common) {
  const section = document.getElementById("errors");
  for (const [status, reference] of common) {
    const response = shown.components.responses[reference.$ref.split("/").pop()];
    const row = section.querySelector("tbody").insertRow();
    row.insertCell().textContent = status;
    row.insertCell().textContent = response.description.replaceAll("`", "");
    const example = document.createElement("code");
    example.textContent = response.content["application/json"].example.error;
    row.insertCell().append(example);
  }
  section.hidden = false;
}

function unlessIn(common) {
  const statuses = new Set(common.map(([status]) => status));
  return (Response, system) => (properties) =>
    statuses.has(properties.code) ? null : system.React.createElement(Response, properties);
}

// Colouring a response of megabytes would block the page for minutes.
function shortened(response) {
  const { length } = response.text || "";
  if (length > charactersShownMax) {
    const start = response.text.slice(0, charactersShownMax);
    response.text = `${start}\n… and so on: ${charactersShownMax} of ${length} characters shown`;
    response.data = response.text;
  }
  return response;
}

function useDemo(ui, button) {
  ui.preauthorizeBasic("credentials", button.dataset.key, button.dataset.login);
  button.textContent = "In use";
  button.disabled = true;
}

show();
