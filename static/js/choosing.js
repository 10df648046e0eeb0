// One box that ticks all the others of its form.

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form) return;
  const all = form.querySelector("[data-check-all]");
  if (!all) return;
  const boxes = [...form.querySelectorAll("[data-check]")];
  if (event.target === all) boxes.forEach((box) => { box.checked = all.checked; });
  const ticked = boxes.filter((box) => box.checked).length;
  all.checked = ticked === boxes.length;
  all.indeterminate = ticked > 0 && ticked < boxes.length;
});
