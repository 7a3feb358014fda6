/** The component for each type of part. */
import type { Component } from 'solid-js';
import type { Message, PartOf, PartType, PartView } from '../protocol';
import { AgentPart } from './AgentPart';
import { CompactionPart } from './CompactionPart';
import { FilePart } from './FilePart';
import { ReasoningPart } from './ReasoningPart';
import { RetryPart } from './RetryPart';
import { SnapshotPart } from './SnapshotPart';
import { PatchPart, StepFinishPart, StepStartPart } from './StepParts';
import { SubtaskPart } from './SubtaskPart';
import { TextPart } from './TextPart';
import { ToolPart } from './ToolPart';
import { UnknownPart } from './UnknownPart';
import './parts.css';

export interface PartProps<T extends PartType> {
  readonly part: PartOf<T>;
  /** Sanitised HTML from Rust, for text, reasoning and the output of running commands. */
  readonly blocks?: readonly string[];
  /** The blocks have only some of the text. */
  readonly cut?: boolean;
  readonly message: Message;
  /** The other parts of the message, for the mentions in a prompt. */
  readonly siblings?: readonly PartView[];
}

/** Exhaustive on purpose: a new Rust variant breaks this line until someone draws it. */
export const partRenderers: { [T in PartType]: Component<PartProps<T>> } = {
  text: TextPart,
  reasoning: ReasoningPart,
  file: FilePart,
  agent: AgentPart,
  tool: ToolPart,
  subtask: SubtaskPart,
  'step-start': StepStartPart,
  'step-finish': StepFinishPart,
  snapshot: SnapshotPart,
  patch: PatchPart,
  retry: RetryPart,
  compaction: CompactionPart,
};

export function rendererOf(type: string): Component<PartProps<PartType>> {
  return Object.hasOwn(partRenderers, type)
    ? (partRenderers[type as PartType] as Component<PartProps<PartType>>)
    : UnknownPart;
}
