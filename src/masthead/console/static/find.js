// The search box and the person pickers: comboboxes with a list of options (WAI-ARIA APG), which
// htmx fills while somebody types. Without JavaScript, the forms' buttons do the same.
(() => {
  let before = null;

  const listOf = (input) => document.getElementById(input.dataset.list);
  const optionsOf = (input) => [...listOf(input).querySelectorAll('[role="option"][id]')].filter(
    (option) => option.getAttribute("aria-disabled") !== "true");
  const activeOf = (input) => document.getElementById(
    input.getAttribute("aria-activedescendant") || "-");
  const isOpen = (input) => !listOf(input).hidden;

  function open(input, isIt) {
    listOf(input).hidden = !isIt;
    input.setAttribute("aria-expanded", String(isIt));
    if (!isIt) activate(input, null);
  }

  function activate(input, option) {
    for (const each of optionsOf(input)) {
      each.setAttribute("aria-selected", String(each === option));
    }
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function choose(input, option) {
    open(input, false);
    if (option.dataset.href) {
      window.location.assign(option.dataset.href);
      return;
    }
    const name = input.name;
    input.value = option.dataset.name;
    input.form.elements[`${name}_for`].value = option.dataset.name;
    const row = document.createElement("div");
    row.className = "tick";
    const radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: `${name}_id`, value: option.dataset.id,
      id: `${name}-${option.dataset.id}`, checked: true });
    const label = document.createElement("label");
    label.htmlFor = radio.id;
    label.append(...[...option.childNodes].map((node) => node.cloneNode(true)));
    row.append(radio, " ", label);
    const people = document.getElementById(input.dataset.picker);
    people.replaceChildren(row);
    people.dispatchEvent(new Event("change", { bubbles: true }));
  }

  // htmx:load is sent for the page and for all that is put into it later.
  document.addEventListener("htmx:load", (event) => {
    for (const input of event.detail.elt.querySelectorAll("input[data-list]")) {
      const attributes = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false",
        "aria-controls": input.dataset.list };
      for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
      listOf(input).setAttribute("role", "listbox");
    }
    for (const button of event.detail.elt.querySelectorAll("[data-without-script]")) {
      button.remove();
    }
  });

  // Typing into a box that has a text begins another search.
  document.addEventListener("focusin", (event) => {
    if (event.target.id === "top-q") event.target.select();
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    const input = document.querySelector(`input[data-list="${event.detail.target.id}"]`);
    if (!input) return;
    const list = listOf(input);
    open(input, document.activeElement === input && list.childElementCount > 0);
  });

  document.addEventListener("input", (event) => {
    const input = event.target;
    if (!input.dataset.list) return;
    if (input.dataset.picker) document.getElementById(input.dataset.picker).replaceChildren();
    if (!input.value.trim()) open(input, false);
  });

  document.addEventListener("keydown", (event) => {
    const input = event.target;
    if (event.key === "/" && !isTyping(event)) {
      const box = document.getElementById("top-q");
      if (!box) return;
      event.preventDefault();
      before = document.activeElement;
      box.focus();
    } else if (input.dataset && input.dataset.list) {
      keyInBox(event, input);
    }
  });

  function isTyping(event) {
    return event.ctrlKey || event.metaKey || event.altKey || event.target.isContentEditable
      || event.target.matches("textarea, select, input:not([type=checkbox], [type=radio])");
  }

  function keyInBox(event, input) {
    const options = optionsOf(input);
    const place = options.indexOf(activeOf(input));
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!options.length) return;
      event.preventDefault();
      open(input, true);
      const down = event.key === "ArrowDown";
      const next = place < 0 ? (down ? 0 : options.length - 1) : place + (down ? 1 : -1);
      activate(input, options[(next + options.length) % options.length]);
    } else if (event.key === "Enter" && isOpen(input)) {
      const option = options[place] || (input.dataset.picker && options[0]);
      if (!option) return;
      event.preventDefault();
      choose(input, option);
    } else if (event.key === "Escape") {
      if (isOpen(input)) {
        event.preventDefault();
        open(input, false);
      } else if (before && !input.dataset.picker) {
        event.preventDefault();
        if (before === document.body) input.blur();
        else before.focus();
        before = null;
      }
    } else if (event.key === "Tab") {
      open(input, false);
    }
  }

  // The list keeps the focus in the box, so that a click reaches the option.
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest(".suggestions")) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const option = event.target.closest('.suggestions [role="option"]');
    for (const input of document.querySelectorAll("input[data-list]")) {
      if (option && listOf(input).contains(option)) {
        if (option.getAttribute("aria-disabled") !== "true") choose(input, option);
      } else if (event.target !== input && isOpen(input)) {
        open(input, false);
      }
    }
  });
})();
