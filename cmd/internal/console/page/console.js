(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const all = (selector) => [...document.querySelectorAll(selector)];

  all(".copy").forEach((button) => button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector(".text");
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text); // the keyboard can copy it from here
      button.textContent = "Select it";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }));

  // Empty fields do not belong into an address that is sent to a colleague.
  const filter = document.getElementById("filter");
  if (filter) filter.addEventListener("formdata", (event) => {
    [...event.formData.entries()].forEach(([name, value]) => { if (!value) event.formData.delete(name); });
  });
})();
