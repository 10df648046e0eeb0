// Asks before a form that cannot easily be taken back is sent. Without script the form is sent at once.

const dialog = document.querySelector("[data-confirm-dialog]");
let waiting = null;

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!dialog?.showModal || !form.matches("[data-confirm]") || waiting === form) return;
    event.preventDefault();
    event.stopPropagation();
    dialog.querySelector("[data-confirm-title]").textContent = form.dataset.confirm;
    dialog.querySelector("[data-confirm-text]").textContent = form.dataset.confirmText ?? "";
    const action = dialog.querySelector("[data-confirm-action]");
    action.textContent = form.dataset.confirmLabel;
    action.classList.toggle("button-danger", form.dataset.confirmTone === "danger");
    action.classList.toggle("button-primary", form.dataset.confirmTone !== "danger");
    waiting = form;
    dialog.returnValue = "";
    dialog.showModal();
  },
  true,
);

dialog?.addEventListener("close", () => {
  const form = waiting;
  if (form && dialog.returnValue === "confirm") form.requestSubmit();
  waiting = null;
});
