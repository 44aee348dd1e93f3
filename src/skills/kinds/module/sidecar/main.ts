import type { Json } from '../../../../core/canonical.ts';
import { lock } from '../../code/worker/lock.ts';
import { listen, say } from './app.ts';
import { optimize } from './optimize.ts';
import { execute } from './program.ts';
import type { Request } from './protocol.ts';

/**
 * The sidecar: one process for the modules of all runs. The app calls the model and reads the repository for
 * it. It keeps nothing between tasks. process.ts defines its sandbox.
 */
lock();
const MAX_BECAUSE = 2_000;
const running = new Map<number, AbortController>();

// Otherwise the engine's output would mix with the lines to the app.
for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) console[name] = () => {};

listen((work) => {
  if (work.kind === 'cancel') return running.get(work.id)?.abort();
  const controller = new AbortController();
  running.set(work.id, controller);
  void perform(work, controller.signal)
    .then(
      (value) => say({ kind: 'done', id: work.id, value }),
      (error) =>
        say({ kind: 'failed', id: work.id, because: String(error?.message ?? error).slice(0, MAX_BECAUSE) }),
    )
    .finally(() => running.delete(work.id));
});

async function perform(request: Request, signal: AbortSignal): Promise<Json> {
  switch (request.service) {
    case 'manifest':
      return { services: ['manifest', 'execute', 'optimize'], optimizers: ['bootstrap_few_shot'] };
    case 'execute':
      return execute(request.id, request.program, request.inputs, signal);
    case 'optimize':
      return optimize(request.id, request);
  }
}
