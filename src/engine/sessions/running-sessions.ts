/** The sessions at work in this process, so that the engine can stop one whose step is no longer wanted. */
export interface RunningSessions {
  /** Registers the session; `signal` is aborted to stop it. Call `end` when it has finished. */
  begin(sessionId: string): { signal: AbortSignal; end(): void };
  /** Stops the session if it runs in this process. */
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
