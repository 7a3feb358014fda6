/**
 * The zoom and position of a picture in its frame. Pure.
 *
 * "Fit" is a state and not a number, so that the picture still fits after the window is resized.
 */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface View {
  /** Undefined fits the frame; 1 is the original size. */
  readonly zoom?: number;
  /** From the centre of the frame to the centre of the picture. */
  readonly x: number;
  readonly y: number;
}

export const FITTED: View = { x: 0, y: 0 };
const STEP = 1.25;
const LARGEST = 8;
/** Wheel pixels per zoom step: about one notch, or a short move on a touchpad. */
const WHEEL_STEP = 60;
/** Pixels per line and per page, for wheels that report these. */
const LINE = 20;
const PAGE = 400;

/** A small picture is not enlarged to fit. */
export function fitScale(picture: Size, frame: Size): number {
  if (picture.width === 0 || picture.height === 0) return 1;
  return Math.min(1, frame.width / picture.width, frame.height / picture.height);
}

export function scaleOf(view: View, picture: Size, frame: Size): number {
  return view.zoom ?? fitScale(picture, frame);
}

/** The zoom steps of a wheel event; at most one. */
export function wheelSteps({ deltaY, deltaMode }: Pick<WheelEvent, 'deltaY' | 'deltaMode'>): number {
  const pixels = deltaY * ([1, LINE, PAGE][deltaMode] ?? 1);
  return Math.min(1, Math.max(-1, -pixels / WHEEL_STEP)) + 0;
}

/** `at` is the fixed point, relative to the centre of the frame. */
export function zoomed(view: View, steps: number, picture: Size, frame: Size, at = { x: 0, y: 0 }): View {
  const before = scaleOf(view, picture, frame);
  const fit = fitScale(picture, frame);
  const zoom = Math.min(LARGEST, Math.max(Math.min(fit, 0.1), before * STEP ** steps));
  // A scale below "fit" would show nothing more.
  if (zoom <= fit && steps < 0) return FITTED;
  const grown = zoom / before;
  const next = { zoom, x: at.x - (at.x - view.x) * grown, y: at.y - (at.y - view.y) * grown };
  return held(next, picture, frame);
}

export function moved(view: View, x: number, y: number, picture: Size, frame: Size): View {
  return held({ ...view, x: view.x + x, y: view.y + y }, picture, frame);
}

/** A picture can be moved only if it is larger than its frame, and only to its edge. */
function held(view: View, picture: Size, frame: Size): View {
  const scale = scaleOf(view, picture, frame);
  const slack = (length: number, room: number) => Math.max(0, (length * scale - room) / 2);
  const keep = (value: number, most: number) => Math.min(most, Math.max(-most, value)) + 0;
  return {
    ...view,
    x: keep(view.x, slack(picture.width, frame.width)),
    y: keep(view.y, slack(picture.height, frame.height)),
  };
}
