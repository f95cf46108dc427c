// Better with JavaScript: a form stays as it is while the console does not answer.
document.addEventListener("htmx:responseError", () => { show(true); });
document.addEventListener("htmx:sendError", () => { show(true); });
document.addEventListener("htmx:afterSwap", () => { show(false); });

function show(isAway) {
  const notice = document.getElementById("away");
  if (!notice) return;
  notice.hidden = !isAway;
  if (isAway) notice.scrollIntoView({ block: "nearest" });
}

// The first thing that is wrong has the focus.
document.addEventListener("htmx:load", () => {
  const errors = document.getElementById("errors");
  if (errors) errors.focus();
});
