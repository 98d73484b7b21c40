/** The style sheet of the report: tokens, type, layout, dark and print. */
import { FONT_STACK, themeDeclarations } from "../theme.ts";

export const STYLE = `:root{color-scheme:light;${themeDeclarations("light")}}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;${themeDeclarations("dark")}}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.55 ${FONT_STACK};font-variant-numeric:tabular-nums}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:2px}
.skip{position:absolute;left:-999px;top:8px;background:var(--surface);padding:8px 12px;border:1px solid var(--line-2);border-radius:6px;z-index:2}
.skip:focus{left:16px}
.hide{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.wrap{max-width:1176px;margin:0 auto;padding:40px 32px 64px}
h1{font-size:34px;line-height:1.15;letter-spacing:-.022em;font-weight:650;margin:10px 0 0;text-wrap:balance}
h2{font-size:21px;line-height:1.25;letter-spacing:-.012em;font-weight:640;margin:56px 0 4px}
h3{font-size:15px;line-height:1.35;font-weight:620;margin:32px 0 2px}
p{margin:0}
.lede{font-size:18px;line-height:1.5;max-width:66ch;margin-top:14px;text-wrap:pretty}
.sub{color:var(--ink-2);max-width:78ch;text-wrap:pretty}
.sub+.sub{margin-top:8px}
.mu{color:var(--ink-3);font-weight:400}
.kick{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:center;font-size:13px;color:var(--ink-2)}
.kick svg{display:block}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(max(150px,100%/var(--columns) - 1px),1fr));margin:28px 0 0;border-top:1px solid var(--ink);border-bottom:1px solid var(--line);overflow:hidden}
.facts div{position:relative;left:-15px;padding:11px 14px 12px;border-left:1px solid var(--line)}
.facts dt{font-size:12px;color:var(--ink-3)}
.facts dd{margin:1px 0 0;font-size:20px;line-height:1.25;font-weight:600;letter-spacing:-.01em}
.facts dd+dd{font-size:12px;font-weight:400;color:var(--ink-2);letter-spacing:0;line-height:1.4;margin-top:2px}
.good{color:var(--good)}.caution{color:var(--warn)}
nav{margin-top:18px;font-size:13px}
nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;margin:0;padding:0}
nav a{color:var(--ink-2);text-decoration:none;display:inline-block;padding:3px 0}
nav a:hover{color:var(--accent);text-decoration:underline}
.two,.three{display:grid;gap:28px 32px;margin-top:18px;align-items:start}
.two>*,.three>*,figure{min-width:0}.two{grid-template-columns:1fr 1fr}.two.lead{grid-template-columns:minmax(0,1.9fr) minmax(0,1fr)}.three{grid-template-columns:repeat(3,1fr)}
figure{margin:18px 0 0;min-width:0}
.two>figure,.three>figure,.lead>div>figure:first-child{margin:0}
.three>*{grid-row:span 3}.three{row-gap:0}
@supports (grid-template-rows:subgrid){.three>figure{display:grid;grid-template-rows:subgrid;grid-template-columns:minmax(0,1fr)}}
figcaption{font-size:13px;color:var(--ink-2);line-height:1.45;margin-bottom:10px;max-width:84ch}
figcaption b{color:var(--ink);font-weight:620}
.plot svg{display:block;width:100%;height:auto;overflow:visible}
.outcomes{margin:0 0 8px;padding-left:18px}.outcomes li{margin:4px 0}
details{margin-top:8px;font-size:13px}
summary{cursor:pointer;color:var(--ink-3);width:max-content;padding:3px 0}
summary:hover{color:var(--accent)}
details .scroll{margin-top:6px}
.scroll{overflow-x:auto;margin-top:16px;position:relative}
table{border-collapse:collapse;width:100%;font-size:13px;line-height:1.4}
caption{text-align:left;font-size:13px;color:var(--ink-2);padding-bottom:8px}
caption b{color:var(--ink);font-weight:620}
th{font-weight:400;text-align:left}
thead th{font-size:12px;color:var(--ink-3);text-align:right;vertical-align:bottom;padding:0 0 6px 14px;line-height:1.3;border-bottom:1px solid var(--ink);white-space:nowrap}
thead th:first-child,thead th.tx{text-align:left}
thead th:first-child{padding-left:0}
tbody tr{border-bottom:1px solid var(--line)}
tbody th{padding:7px 0;min-width:9em}
td{text-align:right;padding:7px 0 7px 14px;white-space:nowrap}
td.tx{text-align:left;white-space:normal;min-width:11em}
td.g{padding:0 0 0 14px;width:1%}td.g svg{display:block}
.hl{background:var(--sunken)}
.sech th{font-size:12px;color:var(--ink-3);padding:16px 0 5px}.sech{border:0!important}
.lev th{padding-left:16px;color:var(--ink-2)}.cat{border:0!important}.chars tbody th,.chars td{padding-top:5px;padding-bottom:5px}
.ctl th,.ctl td{color:var(--ink-2)}
.plain th,.plain td{white-space:normal;vertical-align:top;text-align:left}.plain tbody th{width:40%;padding-right:16px}.plain td{padding-left:0}.plain .st{width:7.5em;padding-right:12px}.plain thead th{padding-left:0}
.note{margin-top:16px;padding:11px 14px;border:1px solid var(--warn-line);background:var(--warn-soft);color:var(--warn);border-radius:8px;font-size:14px;line-height:1.5;max-width:96ch}
.note b{font-weight:640}
.meth{columns:2;column-gap:40px;font-size:14px;line-height:1.55;margin-top:12px}
.meth p{margin-bottom:9px;break-inside:avoid}
.refs{columns:2;column-gap:40px;margin:8px 0 0;padding-left:24px;font-size:12.5px;line-height:1.5;color:var(--ink-2)}.refs li{break-inside:avoid;margin-bottom:4px;padding-left:4px}
.cmd{margin:8px 0 0;padding-left:22px;font-size:12.5px;line-height:1.6}.cmd code{overflow-wrap:anywhere}
.fine{margin-top:48px;padding-top:12px;border-top:1px solid var(--line);font-size:12px;color:var(--ink-2);display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:8px 24px}
.fine b{display:block;font-weight:500;color:var(--ink-3)}.fine code{font-size:11.5px;overflow-wrap:anywhere}
sup{font-size:.75em;line-height:0}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media screen and (max-width:900px){.two,.two.lead,.three{grid-template-columns:minmax(0,1fr)}.meth,.refs{columns:1}.wrap{padding:24px 18px 48px}h1{font-size:28px}.plot{overflow-x:auto}.plot.wide svg{min-width:720px}}
@media print{@page{size:A4;margin:13mm 12mm}
body{font-size:9pt;line-height:1.45}.wrap{padding:0;max-width:none}nav,.skip,details:not([open])>summary,.g{display:none}
h1{font-size:22pt}.lede{font-size:11pt;max-width:none;margin-top:8pt}h2{font-size:14pt;margin-top:16pt}h3{margin-top:10pt;font-size:10pt}h2,h3,caption,thead{break-after:avoid}
figure,tr,.note,.facts,.fine,.scroll{break-inside:avoid}.scroll:has(.plain){break-inside:auto}p,li{orphans:3;widows:3}thead{display:table-header-group}
.sub,figcaption,.note{max-width:none}.sub{font-size:9pt!important}.note{font-size:8.5pt;padding:6px 10px;margin-top:8px}.fine{margin-top:12pt}
.facts{grid-template-columns:repeat(var(--columns),1fr);margin-top:12pt}.facts dd{font-size:13pt}.facts dd+dd,.facts dt{font-size:7.5pt}.facts div{left:-9px;padding:7px 8px}
.scroll{overflow:visible;margin-top:8px}table,caption,figcaption,details{font-size:8pt;line-height:1.35}figcaption{margin-bottom:6px}caption{padding-bottom:4px}thead th{font-size:7.5pt}
td,thead th{padding-left:6px}td{padding-top:3px;padding-bottom:3px}tbody th{padding:3px 0;min-width:0}.chars tbody th,.chars td{padding-top:2px;padding-bottom:2px}.lev th{padding-left:12px!important}
thead th,tbody th{white-space:normal}td.tx{min-width:0}details td,.estimates td{white-space:normal}
.two,.three{break-inside:avoid;margin-top:10px}.two.lead{display:block;break-inside:auto}.two.lead>div{margin-top:10px}.lead .plot{max-width:500px!important}#figure-flow .plot{max-width:620px!important}
.two{gap:14px 20px}.three{gap:0 16px}figure{margin-top:10px}.meth{font-size:8.5pt;column-gap:24px}.meth p{break-inside:auto}.refs{font-size:8pt;column-gap:24px}.cmd{font-size:8pt}
a{color:inherit;text-decoration:none}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
@media (forced-colors:active){.plot svg{forced-color-adjust:none;background:Canvas}}`;
