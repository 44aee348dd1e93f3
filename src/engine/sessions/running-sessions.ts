/** The sessions at work in this process, so that the engine can stop one whose step is no longer wanted. */
export interface RunningSessions {
  /** Notes that the session works; `signal` fires once somebody aborts it. Call `end` when it does not work any more. */
  begin(sessionId: string): { signal: AbortSignal; end(): void };
  /** Stops the session's work if it is under way here. */
  abort(sessionId: string): void;
}

export function createRunningSessions(): RunningSessions {
  const controllers = new Map<string, AbortController>();
  return {
    begin(sessionId) {
      const controller = new AbortController();
      controllers.set(sessionId, controller);
      return { signal: controller.signal, end: () => controllers.delete(sessionId) };
    },
    abort: (sessionId) => controllers.get(sessionId)?.abort(),
  };
}
