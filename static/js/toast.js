// Short words about what just happened. Other scripts dispatch "console:toast" with the sentence as detail.

const LASTS = 4000;
const area = document.querySelector("[data-toast-area]");

function show(sentence) {
  if (!area || !sentence) return;
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.textContent = sentence;
  area.replaceChildren(toast);
  setTimeout(() => toast.remove(), LASTS);
}

document.addEventListener("console:toast", (event) => show(event.detail));

// What htmx could not fetch is said, not swallowed.
document.addEventListener("htmx:sendError", () => show(area?.dataset.unreachable));
document.addEventListener("htmx:responseError", () => show(area?.dataset.refused));
