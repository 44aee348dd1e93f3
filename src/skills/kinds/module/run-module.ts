import { checkValue } from '../../../core/check-value.ts';
import type { SkillOutcome } from '../../../domain/skill/manifest.ts';
import { type Module, REASONING } from '../../../domain/skill/module.ts';
import {
  type Died,
  describeModuleFault,
  type ModuleFault,
  reasoned,
} from '../../../messages/skills/module.ts';
import type { Model, Purpose } from '../../../ports/model.ts';
import type { CodeHost } from '../code/host.ts';
import { hideUntrusted } from './facts.ts';
import { Fences } from './fences.ts';
import { moduleHost, type Refusal } from './host.ts';
import { limitsOf, programOf } from './program.ts';
import { outputsSchema, type Values } from './shape.ts';
import type { Sidecar } from './sidecar.ts';
import { demosOf, type ModuleState } from './state.ts';

export interface ModuleRun {
  sidecar: Sidecar;
  model: Model;
  module: Module;
  outcome: SkillOutcome;
  state: ModuleState | undefined;
  inputs: Values;
  /** Absent if there is no head to read. */
  tools?: Pick<CodeHost, 'search' | 'file' | 'diff' | 'history'>;
  purpose: Purpose;
  signal: AbortSignal;
  newCode?: (() => string) | undefined;
}

export type ModuleEnd =
  | { kind: 'answered'; outputs: Values; log: string }
  | ({ kind: 'failed'; log: string } & Refusal)
  | { kind: 'unavailable'; died: Died };

/**
 * One answer of a module, with its outputs.
 * @throws the signal's reason if aborted
 */
export async function runModule(run: ModuleRun): Promise<ModuleEnd> {
  const { module, outcome, state, tools, model, purpose } = run;
  const fences = new Fences(run.newCode);
  const { modelCalls: mostAsks, timeoutMs } = limitsOf(module);
  const served = moduleHost({ model, module, outcome, fences, purpose, tools, mostAsks, timeoutMs });
  const end = await run.sidecar.perform({
    ask: {
      service: 'execute',
      program: programOf(module, outcome, demosOf(state, fences)),
      inputs: hideUntrusted(run.inputs, fences),
    },
    host: served.host,
    timeoutMs,
    signal: run.signal,
  });
  const log = served.notes.map((note) => `${note}\n`).join('');
  const failed = (fault: ModuleFault, retryable = false): ModuleEnd => ({
    kind: 'failed',
    because: describeModuleFault(fault),
    retryable,
    failure: null,
    log,
  });
  switch (end.kind) {
    case 'unavailable':
      return { kind: 'unavailable', died: end.because };
    case 'timed_out':
      return failed({ kind: 'timed_out', ms: timeoutMs }, true);
    case 'failed':
      return served.refusal
        ? { kind: 'failed', ...served.refusal, log }
        : failed({ kind: 'no_sense', detail: end.because });
    case 'done': {
      const read = checkValue(outputsSchema(module, outcome), end.value);
      if (!read.ok) return failed({ kind: 'wrong_answer', detail: read.detail });
      const { [REASONING]: reasoning } = read.value;
      return {
        kind: 'answered',
        outputs: read.value,
        log: typeof reasoning === 'string' ? `${log}${reasoned(reasoning)}\n` : log,
      };
    }
  }
}
