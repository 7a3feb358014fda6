/** Who waits for the person: sessions with a permission or a question open, oldest first. */
import type { UiState } from './reduce';

/** The session at the top, in whose timeline a task's requests are answered. */
export function rootOf(state: UiState, sessionID: string): string {
  let id = sessionID;
  for (let above = state.sessions[id]?.parentID; above !== undefined; above = state.sessions[id]?.parentID) {
    if (above === id || !(above in state.sessions)) break;
    id = above;
  }
  return id;
}

export function waitingSessions(state: UiState): string[] {
  const asking = [...state.permissions, ...state.questions].map((request) => rootOf(state, request.sessionID));
  return [...new Set(asking)];
}
