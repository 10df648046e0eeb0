// Turns sections that stand one below the other into tabs. Without script they stay sections.

function build(container) {
  const panels = [...container.querySelectorAll("[data-tab-panel]")];
  const list = document.createElement("div");
  list.className = "tabs";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", container.dataset.tabsLabel);
  const tabs = panels.map((panel) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.className = "tab";
    tab.textContent = panel.dataset.tabPanel;
    tab.setAttribute("role", "tab");
    tab.id = `tab-${panel.id}`;
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    list.append(tab);
    return tab;
  });

  function select(index, focus) {
    tabs.forEach((tab, each) => {
      tab.setAttribute("aria-selected", String(each === index));
      tab.tabIndex = each === index ? 0 : -1;
      panels[each].hidden = each !== index;
    });
    tabs[index].scrollIntoView({ block: "nearest", inline: "nearest" });
    if (focus) tabs[index].focus();
  }

  list.addEventListener("click", (event) => {
    const index = tabs.indexOf(event.target.closest("[role=tab]"));
    if (index >= 0) select(index, false);
  });
  list.addEventListener("keydown", (event) => {
    const now = tabs.indexOf(event.target);
    const steps = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    select((steps[event.key] + tabs.length) % tabs.length, true);
  });

  container.before(list);
  container.dataset.tabsReady = "";
  const asked = panels.findIndex((panel) => `#${panel.id}` === location.hash);
  select(Math.max(asked, 0), false);
}

document.querySelectorAll("[data-tabs]").forEach(build);
