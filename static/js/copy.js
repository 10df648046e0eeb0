// Copies the text of the nearest snippet.

async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  // Plain HTTP in a home network has no clipboard API; selecting and the old command still work there.
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (!copied) throw new Error("The browser refused to copy.");
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = button.closest("[data-snippet]").querySelector("[data-snippet-text]");
  try {
    await copy(source.textContent);
    document.dispatchEvent(new CustomEvent("console:toast", { detail: button.dataset.copied }));
  } catch {
    // Selected text is one keystroke from the clipboard.
    getSelection().selectAllChildren(source);
    document.dispatchEvent(new CustomEvent("console:toast", { detail: button.dataset.notCopied }));
  }
});
