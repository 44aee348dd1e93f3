import type { DefinedError } from 'ajv';
import { nearest } from '../../../src/core/diagnostic.ts';

/** ajv's errors (all of them, verbose) as sentences that name the place in the request, such as `body.output.title`. */
export function sentences(errors: readonly DefinedError[]): string[] {
  return topmost(errors).map((error) => `${phrase(error, errors)}.`);
}

function phrase(error: DefinedError, all: readonly DefinedError[]): string {
  const at = place(error.instancePath);
  switch (error.keyword) {
    case 'required':
      return `${member(at, error.params.missingProperty)} is missing`;
    case 'additionalProperties': {
      const name = error.params.additionalProperty;
      const known = Object.keys(error.parentSchema?.properties ?? {});
      const meant = nearest(name, known);
      return `${member(at, name)} is not described${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
    }
    case 'enum':
      return `${at} must be one of ${error.params.allowedValues.join(', ')}, but is ${shown(error.data)}`;
    case 'type':
      return `${at} must be of type ${error.params.type}, but is ${shown(error.data)}`;
    case 'anyOf':
    case 'oneOf': {
      const reasons = topmost(all.filter((other) => isUnder(other, error))).map((inner) =>
        phrase(inner, all),
      );
      return reasons.length === 0
        ? `${at} fits more than one of the alternatives`
        : `${at} fits none of the alternatives (${reasons.join(' / ')})`;
    }
    default:
      return `${at} ${error.message ?? `breaks the rule ${error.keyword}`}`;
  }
}

/** Errors that are not merely the reason why an alternative of another error failed. */
function topmost(errors: readonly DefinedError[]): DefinedError[] {
  return errors.filter((error) => !errors.some((other) => isUnder(error, other)));
}

/** The instance is compared too, because the items of a list share one schema path. */
function isUnder(error: DefinedError, choice: DefinedError): boolean {
  return (
    (choice.keyword === 'anyOf' || choice.keyword === 'oneOf') &&
    error.schemaPath.startsWith(`${choice.schemaPath}/`) &&
    `${error.instancePath}/`.startsWith(`${choice.instancePath}/`)
  );
}

/** `/body/output/annotations/0` as `body.output.annotations[0]`. */
function place(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.');
}

function member(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
