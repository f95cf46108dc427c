// Better with JavaScript: a form stays as it is while the console does not answer.
document.addEventListener("htmx:responseError", () => { show(true); });
document.addEventListener("htmx:sendError", () => { show(true); });
document.addEventListener("htmx:afterSwap", () => { show(false); });

document.addEventListener("sessionEnded", () => {
  const notice = document.getElementById("ended");
  notice.hidden = false;
  notice.scrollIntoView({ block: "nearest" });
});

function show(isAway) {
  const notice = document.getElementById("away");
  if (!notice) return;
  notice.hidden = !isAway;
  if (isAway) notice.scrollIntoView({ block: "nearest" });
}

// After a page was loaded, the focus is on what is wrong, else on the field to begin with, else on
// the content.
document.addEventListener("htmx:afterSettle", (event) => {
  if (!event.detail.boosted) return;
  const errors = document.getElementById("errors");
  const first = document.querySelector("main [autofocus]");
  if (errors || first) (errors || first).focus();
  else focusMain();
});

// The same after the search box or the sign-in has led here, without htmx.
if (document.referrer.startsWith(`${window.location.origin}/`) && !window.location.hash
  && !document.querySelector("[autofocus]")) focusMain();

function focusMain() {
  document.getElementById("main")?.focus({ preventScroll: true });
}

// A form is sent once at a time, and its button shows that it is being sent. A file is saved
// without another page: its button is free again after a moment.
const FILE_MILLISECONDS = 3000;

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("aria-busy") === "true") {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  if (form.method !== "post") return;
  setBusy(form, event.submitter, true);
  if (form.getAttribute("hx-boost") === "false") {
    setTimeout(() => { setBusy(form, event.submitter, false); }, FILE_MILLISECONDS);
  }
}, true);
document.addEventListener("htmx:afterRequest", (event) => { free(event.detail.elt); });
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) free(form);
});

function free(form) {
  if (form.matches("form[aria-busy]")) setBusy(form, form.querySelector("[aria-busy]"), false);
}

function setBusy(form, button, isBusy) {
  for (const each of [form, button]) {
    if (isBusy) each?.setAttribute("aria-busy", "true");
    else each?.removeAttribute("aria-busy");
  }
}

// A choice narrows another one to the groups whose data-of has its value, such as the first issue
// to those of the subscription that is ordered. Without JavaScript, all groups are there.
document.addEventListener("htmx:load", (event) => {
  for (const select of event.detail.elt.querySelectorAll("select[data-narrows]")) narrow(select);
});
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-narrows]")) narrow(event.target);
});

function narrow(select) {
  const other = document.getElementById(select.dataset.narrows);
  for (const group of other.querySelectorAll("optgroup[data-of]")) {
    const fits = !select.value || group.dataset.of.split(" ").includes(select.value);
    group.hidden = group.disabled = !fits;
  }
  if (other.selectedOptions[0]?.parentElement.disabled) other.value = "";
}

// A menu closes with the Escape key and with a click elsewhere.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus((menu) => menu.contains(document.activeElement));
});
document.addEventListener("click", (event) => {
  closeMenus((menu) => !menu.contains(event.target));
});

function closeMenus(isMeant) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!isMeant(menu)) continue;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
}

// In a form of lines, Enter in a field goes to the next one; in the last one, it sends the form, as
// it does in each of them without JavaScript.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches("input")) return;
  const form = event.target.closest('form[data-enter="next"]');
  if (!form) return;
  const fields = [...form.querySelectorAll("input:not([type=hidden]), select")];
  const next = fields[fields.indexOf(event.target) + 1];
  if (!next) return;
  event.preventDefault();
  next.focus();
  if (next.matches("input")) next.select();
});
