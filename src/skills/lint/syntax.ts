import type { Diagnostic } from '../../core/diagnostic.ts';
import { messageOf } from '../../core/errors.ts';
import { filesOf, type PackageFile, type SkillPackage } from '../../domain/skill/package.ts';
import { placeOf } from '../../domain/skill/place.ts';

/** As much as a program has when it is run, so that what is nested too deeply is told here too. */
const STACK_BYTES = 512 * 1_024;

interface Place {
  line: number;
  column?: number;
  message: string;
}

/**
 * Whether the prompts and JavaScript programs of a package parse, each told by the engine that will carry it out. Nothing of them is
 * carried out, so this needs no process of its own, other than a rendering or a run. Python is not parsed: its interpreter takes seconds to
 * load, and `skill test` tells. The app does not ask this when it reads a package: a step that carries out such a file fails.
 */
export async function syntaxDiagnostics(skill: SkillPackage, folder: string): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const file of filesOf(skill)) {
    const { line, column = 1, message } = (await faultIn(file)) ?? {};
    if (line !== undefined && message !== undefined)
      diagnostics.push({ file: `${folder}/${file.path}`, line, column, message });
  }
  return diagnostics;
}

function faultIn({ path, text }: PackageFile): Promise<Place | undefined> | undefined {
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
  // An engine for each: one whose stack ran out is of no use afterwards.
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
