(() => {
  "use strict";
  document.documentElement.classList.add("js");

  // A filter hides what its form does not ask for, and says how much is left. With nothing to filter it does nothing.
  const filter = (form, items, matches) => {
    if (!form) return;
    const texts = items.map((item) => item.textContent.toLowerCase());
    const none = form.parentElement.querySelector(".none");
    const apply = () => {
      const asked = new FormData(form);
      const text = (asked.get("text") || "").trim().toLowerCase();
      let shown = 0;
      items.forEach((item, i) => {
        item.hidden = !(texts[i].includes(text) && matches(item.dataset, asked));
        if (!item.hidden) shown++;
      });
      form.querySelector(".shown").textContent = shown + " of " + items.length;
      none.hidden = shown > 0;
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  };
  const all = (selector) => [...document.querySelectorAll(selector)];

  filter(document.getElementById("tool-filter"), all("#tools tbody tr"), (row, asked) => {
    const pattern = asked.get("pattern"), grade = asked.get("grade");
    const has = pattern === "both" ? row.style === "both" : row.patterns.split(" ").includes(pattern);
    return (!pattern || has) && (!grade || row.grade === grade);
  });
  filter(document.getElementById("finding-filter"), all("#finding-list article"), (finding, asked) => {
    const tool = asked.get("tool");
    return asked.getAll("severity").includes(finding.severity) && (!tool || finding.tool === tool);
  });

  // A column is sorted by a click on its head: text from a to z, numbers from the largest.
  const body = document.querySelector("#tools tbody");
  all("#tools thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const number = head.classList.contains("num");
      const first = number ? "descending" : "ascending", other = number ? "ascending" : "descending";
      const way = head.getAttribute("aria-sort") === first ? other : first;
      all("#tools thead th").forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", way);
      const sign = way === "ascending" ? 1 : -1;
      const value = (row) => row.cells[column].textContent;
      const order = (a, b) => (number ? value(a) - value(b) : value(a).localeCompare(value(b)));
      [...body.rows].sort((a, b) => sign * order(a, b)).forEach((row) => body.append(row));
    });
  });

  const copied = (button, done) => {
    button.textContent = done ? "Copied" : "Select it";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  all(".copy").forEach((button) => button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector(".text");
    try {
      await navigator.clipboard.writeText(text.textContent);
      copied(button, true);
    } catch {
      getSelection().selectAllChildren(text); // the keyboard can copy it from here
      copied(button, false);
    }
  }));

  // On paper nothing can be opened.
  const opened = [];
  addEventListener("beforeprint", () => all("details:not([open])").forEach((d) => { d.open = true; opened.push(d); }));
  addEventListener("afterprint", () => opened.splice(0).forEach((d) => { d.open = false; }));
})();
