// Small conveniences of every page. All of it works without this file, only with more clicks.

const YEAR = 31536000;

function remember(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const age = value ? YEAR : 0;
  // Written as it is: names of zones and looks need no escapes, and the server undoes none.
  document.cookie = `${name}=${value}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
}

// The server shows times in the reader's zone; it learns the zone from here.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) remember("memrelay_zone", zone);

// Light, dark or the system's choice: at once, and remembered for the next page.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-theme-switch]");
  if (!form || !event.submitter) return;
  event.preventDefault();
  const theme = event.submitter.value;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  remember("memrelay_theme", theme);
  for (const button of document.querySelectorAll("[data-theme-switch] button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
});

// A choice that sends its form as soon as it is made.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit-on-change]")) event.target.form.requestSubmit();
});

// Menus close when one looks elsewhere, or with Escape (and the focus goes back to where they opened).
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = event.target.closest?.("details[data-menu][open]") ?? document.querySelector("details[data-menu][open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// "/" goes to the search field of the page, unless one is writing.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable], dialog")) return;
  const fields = [...document.querySelectorAll("[data-search-field]")];
  const field = fields.find((each) => each.offsetParent !== null && each.closest("main")) ??
    fields.find((each) => each.offsetParent !== null);
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});

document.addEventListener("click", (event) => {
  const close = event.target.closest("[data-dismiss]");
  if (close) close.closest("[data-dismissible]").remove();
});

// Text that is not saved yet is not lost by a wrong click.
let unsaved = false;
document.addEventListener("input", (event) => {
  if (event.target.closest("form[data-guard-changes]")) unsaved = true;
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("form[data-guard-changes]")) unsaved = false;
});
window.addEventListener("beforeunload", (event) => {
  if (unsaved) event.preventDefault();
});
