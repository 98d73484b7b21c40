/** Fingers on a page, as a touch screen tells them; the page's context needs `hasTouch`. */
import type { Page } from "playwright-core";

type Point = readonly [number, number];

/** Fingers that go straight from one point each to another, all at once; lifted at the end. */
export async function moveFingers(page: Page, fingers: readonly (readonly [Point, Point])[], steps = 5): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const at = (share: number) =>
    fingers.map(([[x0, y0], [x1, y1]], id) => ({ x: x0 + share * (x1 - x0), y: y0 + share * (y1 - y0), id }));
  const send = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: ReturnType<typeof at>) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints });
  await send("touchStart", at(0));
  for (let k = 1; k <= steps; k++) await send("touchMove", at(k / steps));
  await send("touchEnd", []);
  await session.detach();
}
