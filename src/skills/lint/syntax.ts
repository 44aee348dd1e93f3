import type { Diagnostic } from '../../core/diagnostic.ts';
import { messageOf } from '../../core/errors.ts';
import { filesOf, type PackageFile, type SkillPackage } from '../../domain/skill/package.ts';
import { PLACES, placeOf, SKILL_FILE } from '../../domain/skill/place.ts';

const ARTIFACT_PATHS = PLACES.filter((place) => place !== SKILL_FILE && !place.startsWith('tests/'));

/** The stack of a running program, so that too deep nesting is reported here too. */
const STACK_BYTES = 512 * 1_024;

interface Place {
  line: number;
  column?: number;
  message: string;
}

/**
 * Parses the prompts and JavaScript programs of a package with the engines that will execute them. Nothing is
 * executed, so this needs no process of its own. Python is not parsed, because its interpreter takes seconds
 * to load; `skill test` reports its errors. The app does not run this when it reads a package: a step that
 * executes such a file fails.
 */
export async function syntaxDiagnostics(skill: SkillPackage, folder: string): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const file of filesOf(skill)) {
    const { line, column = 1, message } = (await syntaxErrorIn(file)) ?? {};
    if (line !== undefined && message !== undefined)
      diagnostics.push({ file: `${folder}/${file.path}`, line, column, message });
  }
  return diagnostics;
}

function syntaxErrorIn({ path, text }: PackageFile): Promise<Place | undefined> | undefined {
  if (placeOf(path)?.kind === 'prompt_template') return templateDiagnostic(text);
  if (placeOf(path)?.kind === 'code_template' && path.endsWith('.js')) return programDiagnostic(text);
  return undefined;
}

async function templateDiagnostic(text: string): Promise<Place | undefined> {
  const { Environment } = await import('minijinja-js');
  try {
    new Environment().addTemplate('prompt', text);
    return undefined;
  } catch (error) {
    const [first = ''] = messageOf(error).split('\n');
    const [, message = first, line = '1'] = /^(.*?) \(in prompt:(\d+)\)/.exec(first) ?? [];
    return { line: Number(line), message };
  }
}

async function programDiagnostic(text: string): Promise<Place | undefined> {
  const { newQuickJSWASMModuleFromVariant } = await import('quickjs-emscripten-core');
  // A new engine for each program: one whose stack overflowed cannot be used again.
  const engine = await newQuickJSWASMModuleFromVariant(import('@jitl/quickjs-wasmfile-release-sync'));
  const vm = engine.newContext();
  try {
    vm.runtime.setMaxStackSize(STACK_BYTES);
    const compiled = vm.evalCode(text, 'program', { type: 'module', compileOnly: true });
    if (!compiled.error) return undefined;
    const { name, message, stack } = vm.dump(compiled.error) as Record<string, unknown>;
    const [, line = '1', column = '1'] = /program:(\d+):(\d+)/.exec(String(stack)) ?? [];
    return { line: Number(line), column: Number(column), message: `${name}: ${message}` };
  } catch {
    return { line: 1, message: 'this is nested too deeply to be parsed' };
  }
}

/**
 * A package that declares an outcome but has no file that produces it: every step with it fails. Only lint
 * reports this, because a package grows file by file, and an error found while reading it would stop all
 * chains that name it.
 */
export function missingArtifact({ outcome, artifacts }: SkillPackage, folder: string): Diagnostic[] {
  if (outcome === null || artifacts.some(({ kind }) => kind !== 'description')) return [];
  const message = `no file of the package produces its outcome (${outcome}); add one of ${ARTIFACT_PATHS.join(', ')}`;
  return [{ file: `${folder}/${SKILL_FILE}`, line: 1, column: 1, message }];
}
