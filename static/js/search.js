// Searching with the keyboard: arrows move between the field and what was found, Enter opens, Escape goes back and clears.

const FIELD = "main [data-search-field]";
const LINK = "[data-results] .row-link";

const field = () => document.querySelector(FIELD);
const links = () => [...document.querySelectorAll(LINK)];

function say(input) {
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

function fromField(event, input) {
  if (event.key === "ArrowDown" && links().length) {
    event.preventDefault();
    links()[0].focus();
  } else if (event.key === "Escape") {
    event.preventDefault();
    if (!input.value) return input.blur();
    input.value = "";
    say(input);
  }
}

function fromLink(event, link) {
  const all = links();
  const now = all.indexOf(link);
  const steps = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 };
  if (event.key === "Escape" || (event.key === "ArrowUp" && now === 0)) {
    event.preventDefault();
    field()?.focus();
    field()?.select();
  } else if (event.key in steps) {
    event.preventDefault();
    (all[steps[event.key]] ?? document.querySelector("[data-more] a"))?.focus();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const input = event.target.closest?.(FIELD);
  const link = event.target.closest?.(LINK);
  if (input) fromField(event, input);
  else if (link && field()) fromLink(event, link);
  else if (event.key === "ArrowUp" && event.target.closest?.("[data-more]")) {
    event.preventDefault();
    links().at(-1)?.focus();
  }
});

// Half of a Chinese word, as it is spelled while it is typed, is nothing to search for. And what was typed is not searched
// for once more when the focus leaves the field: the results would be replaced under the keys that move through them.
function keepFrom(event) {
  const isSearch = event.target.matches("[data-search-field]");
  if (isSearch && (event.isComposing || event.type === "change")) event.stopPropagation();
}

document.addEventListener("input", keepFrom, true);
document.addEventListener("change", keepFrom, true);
document.addEventListener("compositionend", (event) => {
  if (event.target.matches("[data-search-field]")) say(event.target);
});

// Addresses that one keeps or sends on name what was asked for, not what was left empty.
document.addEventListener("htmx:configRequest", (event) => {
  if (!event.target.matches("[data-lean-address]")) return;
  const asked = event.detail.parameters;
  for (const name of Object.keys(asked)) if (asked[name] === "") delete asked[name];
});

// The way to further results goes when they come; whoever used it goes on at the first of them.
let shown = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.matches?.("[data-more]")) shown = links().length;
});
document.addEventListener("htmx:afterSettle", () => {
  if (shown !== null) links()[shown]?.focus();
  shown = null;
});
