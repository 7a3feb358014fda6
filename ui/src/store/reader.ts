/** Where the person reads in the open session. Only the timeline knows. */
export interface Reader {
  /** The message on screen; undefined at the end, where new ones are followed. */
  place(): string | undefined;
  /** Returns how to stop. */
  register(place: () => string | undefined): () => void;
}

export function createReader(): Reader {
  let current: (() => string | undefined) | undefined;
  return {
    place: () => current?.(),
    register(place) {
      current = place;
      return () => {
        if (current === place) current = undefined;
      };
    },
  };
}
