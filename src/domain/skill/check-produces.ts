import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import { LeftFiles } from '../artifact/left-files.ts';
import type { YamlSource } from '../chain/positions.ts';
import { parseModule } from './module.ts';
import type { PackageFile } from './package.ts';
import { placeOf } from './place.ts';
import { PRODUCERS } from './producers.ts';
import { type Produces, producesSchema } from './produces.ts';

/** Diagnostics of every `produces` of a SKILL.md. Its shape is checked with the manifest. */
export function checkProduces(
  source: YamlSource,
  artifacts: Json | undefined,
  files: readonly PackageFile[],
): Diagnostic[] {
  if (!isMapping(artifacts)) return [];
  return Object.entries(artifacts).flatMap(([file, metadata]) => {
    const at = ['artifacts', file, 'produces'];
    const produces = producesSchema.safeParse(memberOf(metadata, 'produces')).data;
    if (!produces) return [];
    const refused = new LeftFiles().add(produces.path, new Uint8Array(1));
    const unfit =
      refused === undefined
        ? []
        : [source.diagnostic([...at, 'path'], `this cannot be the path of a file: ${refused}`)];
    const kind = placeOf(file)?.kind;
    switch (kind) {
      case 'prompt_template':
        return produces.output === undefined
          ? unfit
          : [...unfit, source.diagnostic([...at, 'output'], 'only a module has outputs', { part: 'key' })];
      case 'dspy_module':
        return [
          ...unfit,
          ...checkOutput(
            source,
            at,
            produces,
            files.find(({ path }) => path === file),
          ),
        ];
      default: {
        const instead = kind === undefined || kind === 'description' ? undefined : PRODUCERS[kind].instead;
        const only = 'only prompts and modules have "produces"';
        return [source.diagnostic(at, instead === undefined ? only : `${only}; ${instead}`, { part: 'key' })];
      }
    }
  });
}

function checkOutput(
  source: YamlSource,
  at: readonly string[],
  { output }: Produces,
  file: PackageFile | undefined,
): Diagnostic[] {
  const texts = textOutputsOf(file);
  // The module has diagnostics of its own.
  if (texts === undefined) return [];
  if (output === undefined)
    return [source.diagnostic([...at], 'a module says which "output" has the content of the file')];
  return texts.includes(output)
    ? []
    : [
        source.diagnostic(
          [...at, 'output'],
          notAllowed(`the module has no text output "${output}"`, texts, output),
        ),
      ];
}

function textOutputsOf(file: PackageFile | undefined): string[] | undefined {
  try {
    const { outputs } = parseModule(file?.text ?? '').signature;
    return Object.entries(outputs).flatMap(([name, { type }]) => (type === 'string' ? [name] : []));
  } catch {
    return undefined;
  }
}
