// Helpers for tests of the second tab.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function openTab(browser, options) {
  const visited = await browser.visit(options);
  await visited.page.click("#tab-own");
  await visited.page.locator("#own-pixels option").first().waitFor({ state: "attached" });
  return visited;
}

/** Drops files on the page or pastes them, by the events of a browser. */
export async function hand(page, event, files) {
  const entries = files.map(({ name, mimeType, buffer }) => [name, mimeType, buffer.toString("base64")]);
  await page.evaluate(
    async ([event, entries]) => {
      const data = new DataTransfer();
      for (const [name, type, base64] of entries) {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        data.items.add(new File([bytes], name, { type }));
      }
      const options = { bubbles: true, cancelable: true };
      const transferEvent = event === "paste" ? new ClipboardEvent(event, options) : new DragEvent(event, options);
      // In Firefox the event's constructor takes no files to paste.
      Object.defineProperty(transferEvent, event === "paste" ? "clipboardData" : "dataTransfer", { value: data });
      document.body.dispatchEvent(transferEvent);
    },
    [event, entries],
  );
}

/** The page's answer to the photo: each class with its probability. */
export async function classes(page) {
  await page.locator("#own-classes li").first().waitFor();
  const rows = await page.locator("#own-classes li").all();
  return Promise.all(
    rows.map((row) => row.evaluate(({ dataset }) => ({ label: dataset.label, p: Number(dataset.p) }))),
  );
}

/** Waits until the page shows the model's speed. */
export const ready = (page) =>
  page.waitForFunction(() => document.querySelector("#own-facts")?.textContent.includes("ms a photo"));

/** Writes files to disk, so that a browser can drag them. The end of the test `t` deletes them. */
export function onDisk(t, files) {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return files.map(({ name, buffer }) => {
    writeFileSync(join(folder, name), buffer);
    return join(folder, name);
  });
}

/** Drags files as out of a file manager: `drag("dragOver", selector)` and the like. */
export async function dragging(page, files) {
  const browser = await page.context().newCDPSession(page);
  return async (type, selector) => {
    const { x, y, width, height } = await page.locator(selector).boundingBox();
    const data = { items: [], files, dragOperationsMask: 1 };
    await browser.send("Input.dispatchDragEvent", { type, x: x + width / 2, y: y + height / 2, data });
  };
}
