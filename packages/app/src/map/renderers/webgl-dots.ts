/**
 * Dots by WebGL 2 in one file, without a library: those that exist make their code at run time, which the content policy
 * forbids (docs/decisions/0007-own-webgl-renderer.md). One point sprite per dot; the fragment shader cuts a disc or a
 * ring from it. Everything but the viewport is uploaded once, so that moving is one draw call.
 */
import type { Viewport } from "../viewport.ts";
import { type DotRenderer, type Dots, drawingOrder, lookOf } from "./dot-renderer.ts";

const VERTEX = `#version 300 es
uniform vec4 u_map;    // unit, origin x, origin y, device pixels per px
uniform vec2 u_size;   // stage in px
in vec2 a_place;
in vec4 a_colour;
in vec2 a_shape;       // radius in px, width of the line of a ring in px, 0 for a disc
out vec4 v_colour;
out vec3 v_shape;      // radius, line, half side of the sprite; device pixels
void main() {
  vec2 px = vec2(u_map.y + u_map.x * a_place.x, u_map.z - u_map.x * a_place.y);
  gl_Position = vec4(2.0 * px.x / u_size.x - 1.0, 1.0 - 2.0 * px.y / u_size.y, 0.0, 1.0);
  float half_side = (a_shape.x + 2.0) * u_map.w;
  gl_PointSize = 2.0 * half_side;
  v_colour = a_colour;
  v_shape = vec3(a_shape.x * u_map.w, a_shape.y * u_map.w, half_side);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 v_colour;
in vec3 v_shape;
out vec4 colour;
void main() {
  float d = length(gl_PointCoord * 2.0 - 1.0) * v_shape.z;
  float disc = 1.0 - smoothstep(v_shape.x - 0.5, v_shape.x + 0.5, d);
  float ring = 1.0 - smoothstep(0.5 * v_shape.y - 0.5, 0.5 * v_shape.y + 0.5, abs(d - v_shape.x));
  float alpha = v_colour.a * mix(disc, ring, step(0.5, v_shape.y));
  if (alpha < 0.004) discard;
  colour = vec4(v_colour.rgb * alpha, alpha);
}`;

/** Names of programs that stand in for a graphics card. */
const STAND_IN = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Whether this document can make a WebGL 2 context; with `quick`, one that no processor stands in for. */
export function hasWebGl(document: Document, quick = false): boolean {
  const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: quick });
  if (gl === null) return false;
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return !quick || !STAND_IN.test(name);
}

interface Program {
  readonly gl: WebGL2RenderingContext;
  readonly program: WebGLProgram;
  readonly places: WebGLBuffer;
  readonly colours: WebGLBuffer;
  readonly shapes: WebGLBuffer;
}

/** A WebGL 2 renderer, or null where there is none; `colourOf` gives a token's colour as [r, g, b] in 0–255. */
export function webglDots(
  document: Document,
  colourOf: (token: string) => readonly [number, number, number],
): DotRenderer | null {
  const element = document.createElement("canvas");
  element.className = "tm-dots";
  element.setAttribute("aria-hidden", "true");
  const gl = element.getContext("webgl2", { antialias: false, premultipliedAlpha: true, alpha: true });
  if (gl === null) return null;
  let built = build(gl);
  if (built === null) return null;
  let dots: Dots | null = null;
  let last: Viewport | null = null;

  const lost = (event: Event) => {
    // Asks the browser to give the context back.
    event.preventDefault();
    built = null;
  };
  const restored = () => {
    built = build(gl);
    if (built === null || dots === null) return;
    upload(built, dots, colourOf);
    if (last !== null) render(built, element, last, dots.style.order.length);
  };
  element.addEventListener("webglcontextlost", lost);
  element.addEventListener("webglcontextrestored", restored);
  return {
    kind: "webgl",
    element,
    setDots(next) {
      dots = next;
      if (built !== null) upload(built, next, colourOf);
    },
    draw(viewport) {
      last = viewport;
      if (built !== null && dots !== null) render(built, element, viewport, dots.style.order.length);
    },
    destroy() {
      element.removeEventListener("webglcontextlost", lost);
      element.removeEventListener("webglcontextrestored", restored);
      gl.getExtension("WEBGL_lose_context")?.loseContext();
      element.remove();
    },
  };
}

/** Shaders and buffers; null if the driver refuses them. */
function build(gl: WebGL2RenderingContext): Program | null {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind);
    if (shader === null) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (gl.getProgramParameter(program, gl.LINK_STATUS) !== true) return null;
  const [places, colours, shapes] = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
  const attach = (name: string, buffer: WebGLBuffer, size: number, type: number, normalized: boolean) => {
    const at = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, normalized, 0, 0);
  };
  attach("a_place", places, 2, gl.FLOAT, false);
  attach("a_colour", colours, 4, gl.UNSIGNED_BYTE, true);
  attach("a_shape", shapes, 2, gl.FLOAT, false);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  return { gl, program, places, colours, shapes };
}

/** Dots in drawing order to the graphics card. */
function upload(
  { gl, places, colours, shapes }: Program,
  dots: Dots,
  colourOf: (token: string) => readonly [number, number, number],
): void {
  const order = drawingOrder(dots);
  const palette = dots.colours.swatches.map(({ token }) => colourOf(token));
  const place = new Float32Array(2 * order.length);
  const colour = new Uint8Array(4 * order.length);
  const shape = new Float32Array(2 * order.length);
  order.forEach((i, k) => {
    const { opacity, line } = lookOf(dots, i);
    place[2 * k] = dots.places[2 * i];
    place[2 * k + 1] = dots.places[2 * i + 1];
    colour.set(palette[dots.colours.positions[i]], 4 * k);
    colour[4 * k + 3] = Math.round(255 * opacity);
    shape[2 * k] = dots.style.radius[i];
    shape[2 * k + 1] = line;
  });
  for (const [buffer, data] of [
    [places, place],
    [colours, colour],
    [shapes, shape],
  ] as const) {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
  }
}

function render({ gl, program }: Program, canvas: HTMLCanvasElement, viewport: Viewport, count: number): void {
  const ratio = canvas.ownerDocument.defaultView?.devicePixelRatio ?? 1;
  const [width, height] = [Math.round(viewport.width * ratio), Math.round(viewport.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  gl.viewport(0, 0, width, height);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT);
  gl.useProgram(program);
  const at = (name: string) => gl.getUniformLocation(program, name);
  gl.uniform4f(at("u_map"), viewport.unit, viewport.originX, viewport.originY, ratio);
  gl.uniform2f(at("u_size"), viewport.width, viewport.height);
  gl.drawArrays(gl.POINTS, 0, count);
}
