import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import type { Reference } from '../expression/reference.ts';
import { type ChainInput, chainInputSchema, readValue } from './chain-inputs.ts';
import type { Path, YamlSource } from './positions.ts';
import type { TriggerSource } from './trigger-schema.ts';

/** The inputs of a file by name, each `undefined` if it is not valid. */
export type WrittenInputs = ReadonlyMap<string, ChainInput | undefined>;

/** `undefined` if the file declares no inputs, or something else in their place. */
export function inputsIn({ value }: Pick<YamlSource, 'value'>): WrittenInputs | undefined {
  const inputs = memberOf(value, 'inputs');
  if (!isMapping(inputs)) return undefined;
  return new Map(
    Object.entries(inputs).map(([name, input]) => [name, chainInputSchema.safeParse(input).data]),
  );
}

/** Diagnostics of `inputs:` that its schema cannot express. */
export function checkChainInputs(
  source: YamlSource,
  sources: readonly TriggerSource[] | undefined,
): Diagnostic[] {
  return [...(inputsIn(source) ?? [])].flatMap(([name, input]) =>
    input ? checkInput(source, ['inputs', name], input, sources) : [],
  );
}

function checkInput(
  source: YamlSource,
  path: Path,
  { type = 'string', choices, required, default: usual }: ChainInput,
  sources: readonly TriggerSource[] | undefined,
): Diagnostic[] {
  const name = `"${String(path.at(-1))}"`;
  const diagnostics = (choices ?? []).flatMap((choice, index) => {
    const at = [...path, 'choices', index];
    if (type !== 'boolean' && typeof choice !== type)
      return [source.diagnostic(at, `${name} is a ${type}, and this choice is none`)];
    return choices?.indexOf(choice) === index ? [] : [source.diagnostic(at, 'this choice is there twice')];
  });
  if (type === 'boolean' && choices)
    diagnostics.push(
      source.diagnostic([...path, 'choices'], 'choices go with a string or a number', { part: 'key' }),
    );
  const fits = usual === undefined ? undefined : readValue({ type, choices }, usual);
  // As text, it would be one kind of value in the file and another in the run.
  if (usual !== undefined && (!fits || 'wanted' in fits || typeof usual !== type))
    diagnostics.push(
      source.diagnostic(
        [...path, 'default'],
        `the default of ${name} must be ${fits && 'wanted' in fits ? fits.wanted : `a ${type}`}`,
      ),
    );
  if (!required) return diagnostics;
  if (usual !== undefined)
    diagnostics.push(
      source.diagnostic([...path, 'required'], `${name} has a default, so it is not required`, {
        part: 'key',
      }),
    );
  const other = sources?.filter((one) => one !== 'manual.fired') ?? [];
  if (other.length > 0)
    diagnostics.push(
      source.diagnostic(
        [...path, 'required'],
        `nobody gives ${name} to a run of ${[...new Set(other)].join(' or ')}; it needs a default instead`,
        { part: 'key' },
      ),
    );
  return diagnostics;
}

/** `trigger.input_x`, of chains that declare no inputs. */
export function isOldInput({ root, path: [member] }: Reference): boolean {
  return root === 'trigger' && typeof member === 'string' && member.startsWith('input_');
}

/**
 * Why no run of the chain has this input, or why it is never equal to the value that it is compared with.
 * @param reference of `inputs` or `trigger.input_<name>`; with a value, it is compared with that
 */
export function missingInput(
  reference: Reference & { value?: Json },
  inputs: WrittenInputs | undefined,
): string | undefined {
  const { root, path, value } = reference;
  const [name, ...members] = path;
  if (root === 'trigger')
    return inputs && `this chain declares its inputs: write inputs.${String(name).slice('input_'.length)}`;
  if (name === undefined) return undefined;
  if (!inputs) return 'this chain declares no inputs; add them under "inputs:", each with its type';
  if (!inputs.has(String(name)))
    return notAllowed(`there is no input "${name}"`, [...inputs.keys()], String(name));
  const input = inputs.get(String(name));
  if (!input) return undefined;
  if (members.length > 0) return `"inputs.${name}" has no members`;
  return value === undefined || value === null ? undefined : neverEqual(String(name), input, value);
}

/** `==` converts nothing, so the condition would never hold, with no explanation. */
function neverEqual(name: string, input: ChainInput, value: Json): string | undefined {
  const { type = 'string' } = input;
  const read = readValue(input, value);
  const isSame = 'value' in read && read.value === value;
  if (isSame || (type === 'string' && !input.choices && typeof value === 'string')) return undefined;
  const written = typeof value === 'string' ? `'${value}'` : String(value);
  const is = input.choices && 'wanted' in read ? read.wanted : `a ${type}`;
  return `"inputs.${name}" is ${is}, so it never equals ${written}`;
}
