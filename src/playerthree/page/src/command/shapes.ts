/** One shape for each kind of unit and building, drawn around the origin and one tile wide. */

type Pen = CanvasRenderingContext2D;

/** Draws a kind with its side's colour, the tint and the outline; `pen` is already placed, turned and scaled. */
export function drawShape(pen: Pen, kind: string, fill: string, light: string, ink: string): void {
  pen.fillStyle = fill;
  pen.strokeStyle = ink;
  pen.lineWidth = 0.055;
  pen.lineJoin = "round";
  (SHAPES[kind] ?? worker)(pen, light, ink);
}

const SHAPES: { readonly [kind: string]: (pen: Pen, light: string, ink: string) => void } = {
  worker,
  soldier,
  tank,
  scout,
  gunship,
  base,
  factory,
  airfield,
  reactor,
  turret,
};

function path(pen: Pen, points: readonly (readonly [number, number])[]): void {
  pen.beginPath();
  for (const [x, y] of points) pen.lineTo(x, y);
  pen.closePath();
  pen.fill();
  pen.stroke();
}

function disc(pen: Pen, x: number, y: number, radius: number): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, Math.PI * 2);
  pen.fill();
}

function box(pen: Pen, x: number, y: number, width: number, height: number, radius: number): void {
  pen.beginPath();
  pen.roundRect(x, y, width, height, radius);
  pen.fill();
}

function ring(points: number, radius: number, turn = 0): (readonly [number, number])[] {
  return Array.from({ length: points }, (_, index) => {
    const angle = turn + (index / points) * Math.PI * 2;
    return [Math.cos(angle) * radius, Math.sin(angle) * radius] as const;
  });
}

/** A round body with two arms to dig. */
function worker(pen: Pen, light: string): void {
  const fill = pen.fillStyle;
  pen.fillStyle = light;
  for (const side of [-1, 1]) path(pen, [[-0.02, side * 0.3], [0.36, side * 0.2], [0.36, side * 0.08], [0.02, side * 0.1]]);
  pen.fillStyle = fill;
  disc(pen, -0.08, 0, 0.22);
  pen.stroke();
}

function soldier(pen: Pen, light: string): void {
  path(pen, [[0.36, 0], [-0.26, 0.27], [-0.12, 0], [-0.26, -0.27]]);
  pen.fillStyle = light;
  disc(pen, 0, 0, 0.08);
}

function tank(pen: Pen, light: string, ink: string): void {
  box(pen, -0.36, -0.3, 0.7, 0.6, 0.1);
  pen.stroke();
  pen.fillStyle = ink;
  box(pen, -0.36, -0.3, 0.7, 0.11, 0.05);
  box(pen, -0.36, 0.19, 0.7, 0.11, 0.05);
  pen.fillStyle = light;
  disc(pen, -0.04, 0, 0.15);
  box(pen, 0, -0.05, 0.46, 0.1, 0.03);
}

function scout(pen: Pen, light: string): void {
  path(pen, [[0.4, 0], [-0.22, 0.3], [-0.1, 0], [-0.22, -0.3]]);
  pen.fillStyle = light;
  disc(pen, 0.1, 0, 0.07);
}

function gunship(pen: Pen, light: string): void {
  path(pen, [[0.44, 0], [0, 0.2], [-0.4, 0.36], [-0.24, 0], [-0.4, -0.36], [0, -0.2]]);
  pen.fillStyle = light;
  disc(pen, -0.02, 0, 0.11);
}

function base(pen: Pen, light: string, ink: string): void {
  path(pen, ring(6, 0.66));
  pen.fillStyle = ink;
  path(pen, ring(6, 0.36));
  pen.fillStyle = light;
  disc(pen, 0, 0, 0.17);
}

function factory(pen: Pen, light: string): void {
  path(pen, [[-0.46, 0.44], [-0.46, -0.3], [-0.15, -0.08], [-0.15, -0.3], [0.16, -0.08], [0.16, -0.42], [0.46, -0.42], [0.46, 0.44]]);
  pen.fillStyle = light;
  box(pen, -0.28, 0.12, 0.18, 0.16, 0.03);
  box(pen, 0.06, 0.12, 0.18, 0.16, 0.03);
}

function airfield(pen: Pen, light: string): void {
  box(pen, -0.52, -0.36, 1.04, 0.72, 0.12);
  pen.stroke();
  pen.fillStyle = light;
  for (const x of [-0.36, -0.09, 0.18]) box(pen, x, -0.045, 0.18, 0.09, 0.02);
}

function reactor(pen: Pen, light: string, ink: string): void {
  disc(pen, 0, 0, 0.42);
  pen.stroke();
  pen.fillStyle = ink;
  disc(pen, 0, 0, 0.27);
  pen.fillStyle = light;
  path(pen, [[0.05, -0.22], [-0.13, 0.04], [0, 0.04], [-0.05, 0.22], [0.13, -0.04], [0, -0.04]]);
}

function turret(pen: Pen, light: string, ink: string): void {
  path(pen, ring(8, 0.4, Math.PI / 8));
  pen.fillStyle = ink;
  disc(pen, 0, 0, 0.22);
  pen.fillStyle = light;
  box(pen, -0.05, -0.055, 0.5, 0.11, 0.03);
}
