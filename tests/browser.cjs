// Opens pages in a headless browser and prints what it saw, as JSON: node browser.cjs NODE_MODULES BROWSER < TASKS
// A task: {url, scheme, width, keys: [[key or text to type]], wait}. Results in the same order.
"use strict";
const path = require("node:path");
const [, , modules, executablePath] = process.argv;
const { chromium } = require(path.join(modules, "playwright-core"));
const axe = require("node:fs").readFileSync(path.join(modules, "axe-core", "axe.min.js"), "utf8");

async function visit(browser, task) {
  // The policy of the page would refuse the script of the checker; what the page itself does is seen with the policy.
  const seen = { messages: [], requests: [], dialogs: 0 };
  const page = await browser.newPage({
    viewport: { width: task.width || 1200, height: 800 },
    colorScheme: task.scheme || "light",
  });
  page.on("console", (message) => seen.messages.push(message.text()));
  page.on("pageerror", (error) => seen.messages.push(String(error)));
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("dialog", (dialog) => { seen.dialogs += 1; return dialog.dismiss(); });
  await page.goto(task.url);
  for (const key of task.keys || []) {
    if (key === "Enter") await Promise.all([page.waitForURL(/#/), page.keyboard.press(key)]);
    else if (/^([A-Z]|.$)/.test(key)) await page.keyboard.press(key);
    else await page.keyboard.type(key);
  }
  // On a busy machine, a page may be loaded before it is scrolled to its fragment.
  await page.waitForFunction(() => {
    const top = document.querySelector(":target")?.getBoundingClientRect().top ?? 0;
    return top >= 0 && top < innerHeight;
  }, null, { timeout: 5000 }).catch(() => null);
  Object.assign(seen, await page.evaluate(() => ({
    address: location.href,
    title: document.title,
    active: document.activeElement?.textContent?.trim().slice(0, 80),
    count: document.getElementById("count")?.textContent,
    results: [...document.querySelectorAll("#results a")].map((link) => link.textContent),
    isWide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    milliseconds: performance.getEntriesByType("navigation")[0].loadEventEnd,
    isCovered: location.hash ? (() => {
      const target = document.querySelector(":target"), { left, top } = target.getBoundingClientRect();
      return !target.contains(document.elementFromPoint(left + 2, top + 2));
    })() : null,
    isFound: Boolean(location.hash && document.querySelector(":target")),
  })));
  if (task.audit) {
    const audited = await browser.newContext({ bypassCSP: true, colorScheme: task.scheme || "light" });
    const copy = await audited.newPage();
    await copy.goto(task.url);
    await copy.evaluate(axe);
    const { violations } = await copy.evaluate(() => globalThis.axe.run());
    seen.faults = violations
      .filter((fault) => ["serious", "critical"].includes(fault.impact))
      .map((fault) => `${fault.id}: ${fault.nodes[0].html}`);
    await audited.close();
  }
  await page.close();
  return seen;
}

(async () => {
  const tasks = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const results = [];
  for (const task of tasks) results.push(await visit(browser, task));
  await browser.close();
  console.log(JSON.stringify(results));
})();
