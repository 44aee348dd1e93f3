import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';
import { unreachable } from '../../../core/errors.ts';
import type { SkillOutcome } from '../../../domain/skill/manifest.ts';
import { type Module, neededOutputs, REASONING } from '../../../domain/skill/module.ts';
import { answerSchema } from '../../runtime/answer.ts';
import { toolCallSchema } from './sidecar/protocol.ts';

type Output = Module['signature']['outputs'][string];
type Input = Module['signature']['inputs'][string];
export type Values = { [name: string]: Json };

const MAX_TEXT = 20_000;
const json: z.ZodType<Json> = z.json();

/** The schema of the model's answer: reasoning first if the template has it, then the module's outputs. */
export function outputsSchema(module: Module, outcome: SkillOutcome): z.ZodType<Values> {
  return outputsOf(module, outcome) as unknown as z.ZodType<Values>;
}

/** Some of the outputs, at least one: the expectation of an example. */
export function expectedSchema(module: Module, outcome: SkillOutcome): z.ZodType<Values> {
  const some = outputsOf(module, outcome).partial();
  return some.refine((values) => Object.keys(values).length > 0, {
    error: 'an example expects at least one output',
  }) as unknown as z.ZodType<Values>;
}

function outputsOf({ template, signature }: Module, outcome: SkillOutcome): z.ZodObject {
  const members = membersOf(outcome);
  const shape = Object.entries(signature.outputs).map(([name, output]) => [
    name,
    members[name] ?? schemaOf(output),
  ]);
  const reasoning = template === 'predict' ? [] : [[REASONING, z.string().min(1).max(MAX_TEXT)]];
  return z.strictObject(Object.fromEntries([...reasoning, ...shape]));
}

/** The same, or a call of a tool if the module has tools. */
export function answerTo(module: Module, outcome: SkillOutcome): z.ZodType<Values> {
  const outputs = outputsSchema(module, outcome);
  const { tools: [first, ...others] = [] } = module;
  if (first === undefined) return outputs;
  const call = toolCallSchema.extend({ call: z.enum([first, ...others]) });
  return z.union([call, outputs]) as unknown as z.ZodType<Values>;
}

/** The outputs that form the outcome. The others only guide the model. */
export function outcomeValue(outputs: Values, outcome: SkillOutcome): Values {
  const names = Object.keys(neededOutputs(outcome));
  return Object.fromEntries(Object.entries(outputs).filter(([name]) => names.includes(name)));
}

export function inputsSchema({ signature }: Module): z.ZodType<Values> {
  const shape = Object.entries(signature.inputs).map(([name, input]) => [
    name,
    input.optional ? schemaOf(input).optional() : schemaOf(input),
  ]);
  return z.strictObject(Object.fromEntries(shape)) as unknown as z.ZodType<Values>;
}

/** The outcome's schema determines the shape of its own members. */
export function membersOf(outcome: SkillOutcome): Readonly<Record<string, z.ZodType>> {
  const schema: unknown = answerSchema(outcome);
  if (!(schema instanceof z.ZodObject)) throw new Error(`the answer for a ${outcome} has no members`);
  return schema.shape;
}

function schemaOf(field: Input | Output): z.ZodType<Json> {
  const { type } = field;
  switch (type) {
    case 'string':
      return z.string();
    case 'number':
      return z.number();
    case 'boolean':
      return z.boolean();
    case 'string[]':
      return z.array(z.string());
    case 'json':
      return json;
    case 'class':
      return z.enum('options' in field ? (field.options ?? []) : []);
    default:
      return unreachable(type);
  }
}
