import type { Json } from '../../../core/canonical.ts';
import { pathOf } from '../../../domain/skill/place.ts';
import type { SkillArtifact } from '../../../domain/skill/skill.ts';
import { type CodeFault, codeFailure } from '../../../messages/skills/code.ts';
import type { Command } from '../../../sandbox/node-program.ts';
import type { ArtifactHandler, ArtifactOutput } from '../../runtime/handler.ts';
import type { Ledger } from './budget.ts';
import type { CodeHost } from './host.ts';
import { interpreter } from './interpreter.ts';
import { type CodeLimits, DEFAULT_LIMITS } from './limits.ts';
import { commandFor } from './process.ts';
import { LANGUAGES, type Language } from './protocol.ts';
import { converse } from './run.ts';
import { pythonSnapshot } from './snapshot.ts';

export interface CodeContext {
  /** The program's `input`. */
  input: Json;
  host: CodeHost;
  limits?: Partial<CodeLimits>;
  /** What programs around it have used. */
  ledger?: Ledger | undefined;
  /** Called with what it prints, as it comes; not redacted. */
  onLog?: (text: string) => void;
  signal: AbortSignal;
  command?: typeof commandFor;
}

/** Executes JavaScript and Python of a skill, each time in a new process. */
export const codeTemplate: ArtifactHandler<CodeContext> = {
  kind: 'code_template',

  /** @throws the signal's reason if aborted; every other problem is a failed output */
  async execute(artifact, context): Promise<ArtifactOutput> {
    const { signal, command: build = commandFor } = context;
    signal.throwIfAborted();
    const language = languageOf(artifact);
    if (!language) return failed(artifact, { kind: 'no_language' });
    const limits = { ...DEFAULT_LIMITS, ...context.limits };
    const { modules, folders } = interpreter(language);
    const command = await build('main', {
      memoryMb: limits.memoryMb[language],
      cpuSeconds: limits.timeoutMs / 1_000 + 1,
      readable: folders,
    });
    if (!mayRun(language, command)) return failed(artifact, { kind: 'network_open' });
    const snapshot = language === 'python' ? await pythonSnapshot() : undefined;
    signal.throwIfAborted();
    const start = {
      language,
      modules,
      source: artifact.content,
      name: pathOf(artifact),
      input: context.input,
      // Its own timeout fires first, because it gives a better message than a kill.
      timeoutMs: limits.timeoutMs * 0.9,
      snapshotBytes: snapshot?.bytes ?? 0,
    };
    const { host, ledger, onLog } = context;
    return converse(command, start, { host, limits, signal, snapshot, ledger, onLog });
  },
};

function languageOf({ name }: SkillArtifact): Language | undefined {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  return Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension as keyof typeof LANGUAGES] : undefined;
}

/**
 * JavaScript runs in an engine without access to the outside. Python can reach Node by design, and then only
 * the missing network protects the machine's neighbours.
 */
function mayRun(language: Language, { network }: Command): boolean {
  return language === 'javascript' || network === 'cut';
}

function failed(artifact: SkillArtifact, fault: CodeFault): ArtifactOutput {
  return { kind: 'failed', because: codeFailure(pathOf(artifact), fault), retryable: false, log: '' };
}
