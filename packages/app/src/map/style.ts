/**
 * The style sheet of the map. Colours are custom properties, so that light and dark change without laying anything out
 * again; a host may override any of them. It is adopted as a constructed sheet, which no content policy forbids.
 */
import { FONT_STACK } from "@trajectory-maps/report";
import { greyDeclarations, tokenDeclarations } from "./tokens.ts";

const RULES = `
.trajectory-map{position:relative;display:flex;flex-direction:column;width:100%;height:100%;min-height:240px;box-sizing:border-box;
background:var(--tm-page);color:var(--tm-ink);font:13px/19px ${FONT_STACK};font-variant-numeric:tabular-nums;-webkit-font-smoothing:antialiased;overflow:hidden}
.trajectory-map *{box-sizing:border-box}
.tm-head{display:flex;flex-wrap:wrap;align-items:center;gap:4px 12px;padding:7px 14px 0;font-size:12px;line-height:17px;color:var(--tm-ink-2)}
.tm-head p{margin:0;flex:1 1 240px}
.tm-head .tm-caveat{flex:1 1 100%;padding:5px 10px;border:1px solid var(--tm-bad-line);border-radius:5px;background:var(--tm-bad-soft);color:var(--tm-bad);font-weight:600}
.tm-axes{display:inline-flex;gap:2px}
.tm-axes[hidden],.tm-foot[hidden],.tm-caveat[hidden]{display:none}
.tm-axes button{font:inherit;color:inherit;min-height:24px;padding:0 8px;border:1px solid var(--tm-line-2);background:var(--tm-surface);border-radius:6px;cursor:pointer}
.tm-axes button[aria-pressed=true]{background:var(--tm-sunken);color:var(--tm-ink);font-weight:600}
.tm-stage{position:relative;flex:1;min-height:0;overflow:hidden;touch-action:none;cursor:default;user-select:none;-webkit-user-select:none}
.tm-stage[data-tool=lasso],.tm-stage[data-tool=box]{cursor:crosshair}
.tm-stage[data-moving]{cursor:grabbing}
.trajectory-map :focus-visible{outline:2px solid var(--tm-accent);outline-offset:-2px;border-radius:4px}
.tm-stage>svg,.tm-stage>canvas{position:absolute;inset:0;width:100%;height:100%;display:block;pointer-events:none;will-change:transform;transform-origin:0 0;overflow:visible}
.trajectory-map svg text{font-family:inherit}
.tm-lens{position:absolute;left:0;top:0;width:208px;background:var(--tm-surface);border:1px solid var(--tm-line);border-radius:8px;box-shadow:var(--tm-shadow);padding:9px 11px 8px;pointer-events:none;font-size:11px;line-height:15px;color:var(--tm-ink-2)}
.tm-lens[hidden]{display:none}
.tm-lens strong{font-weight:600;color:var(--tm-ink)}
.tm-lens .tm-lens-title{font-size:12px;line-height:17px;font-weight:600;color:var(--tm-ink)}
.tm-lens .tm-lens-who{color:var(--tm-ink);font-weight:550;overflow-wrap:anywhere}
.tm-lens p{margin:0}
.tm-lens svg{display:block;margin:3px 0 2px;overflow:visible}
.tm-zoom{display:inline-flex;margin-left:auto;border:1px solid var(--tm-line-2);border-radius:6px;overflow:hidden;background:var(--tm-surface)}
.tm-zoom button{font:inherit;color:inherit;min-width:28px;min-height:24px;padding:0 7px;border:0;border-left:1px solid var(--tm-line);background:none;cursor:pointer}
.tm-zoom button:first-child{border-left:0}
.tm-zoom button:hover:not(:disabled){background:var(--tm-sunken);color:var(--tm-ink)}
.tm-zoom button:disabled{color:var(--tm-ink-3);cursor:default}
.tm-foot{display:flex;flex-wrap:wrap;align-items:center;align-content:center;gap:4px 14px;padding:6px 14px;height:62px;overflow-y:auto;flex:none;background:var(--tm-surface);border-top:1px solid var(--tm-line);font-size:12px;line-height:17px;color:var(--tm-ink-2)}
.tm-key{display:inline-flex;align-items:center;gap:6px;min-width:0;max-width:100%;white-space:nowrap}
.tm-key span{overflow:hidden;text-overflow:ellipsis}
.tm-key svg{flex:none}
.tm-key-terrain{margin-left:auto}
.tm-live{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (forced-colors:active){
.trajectory-map{--tm-ink:CanvasText;--tm-ink-2:CanvasText;--tm-ink-3:CanvasText;--tm-surface:Canvas;--tm-page:Canvas;--tm-iso:GrayText;--tm-coast:CanvasText;--tm-accent:Highlight;forced-color-adjust:none}
.tm-dots circle[fill]:not([fill=none]){fill:CanvasText}.tm-dots circle[stroke]{stroke:CanvasText}}
@keyframes tm-appear{from{opacity:0}}
.trajectory-map[data-motion=full] [data-regions=new]{animation:tm-appear 200ms}
@media print{.tm-lens,.tm-zoom{display:none}}
`;

function sheetText(): string {
  return [
    `.trajectory-map{${tokenDeclarations("light", "--tm-")}}`,
    `.trajectory-map[data-theme=dark]{${tokenDeclarations("dark", "--tm-")}}`,
    `@media (prefers-color-scheme:dark){.trajectory-map[data-theme=system]{${tokenDeclarations("dark", "--tm-")}}}`,
    `@media print{.trajectory-map[data-theme]{${tokenDeclarations("light", "--tm-")}}}`,
    `.trajectory-map[data-caveat]{${greyDeclarations("--tm-")}}`,
    RULES,
  ].join("\n");
}

const MARK = "trajectory-map-style";

/** Gives the document or shadow root of an element the style sheet, once. */
export function adoptStyle(element: Element): void {
  const root = element.getRootNode();
  const home = root instanceof ShadowRoot || root instanceof Document ? root : element.ownerDocument;
  const has = home.adoptedStyleSheets.some((sheet) => (sheet as { [MARK]?: true })[MARK] === true);
  if (has) return;
  const sheet: CSSStyleSheet & { [MARK]?: true } = new CSSStyleSheet();
  sheet.replaceSync(sheetText());
  sheet[MARK] = true;
  home.adoptedStyleSheets = [...home.adoptedStyleSheets, sheet];
}
