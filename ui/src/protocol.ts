/** The types that are shared with Rust: the generated bindings, and what follows from them. */
import type { Part } from './bindings/Part';

export type * from './bindings';

export type PartType = Part['type'];
export type PartOf<T extends PartType> = Extract<Part, { type: T }>;
