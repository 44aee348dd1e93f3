import { describe, expect, test } from 'vitest';
import { compileTemplate, renderWith } from '../../../src/domain/expression/condition.ts';
import { withinEffort } from '../../support/effort.ts';

const context = {
  trigger: { number: 7, labels: ['a', 'b'], title: '{{ trigger.secret }}', secret: 's3cret' },
};
const rendered = (source: string) => compileTemplate(source).evaluate(context);

describe('a template', () => {
  test('that is a single expression keeps the type of its value', () => {
    expect(rendered('{{ trigger.number }}')).toBe(7);
    expect(rendered('{{ trigger.labels }}\n')).toEqual(['a', 'b']);
  });

  test('with text around expressions becomes text', () => {
    expect(rendered('PR {{ trigger.number }} of {{ trigger.labels|join("+") }}.')).toBe('PR 7 of a+b.');
    expect(rendered('{{ trigger.number }}{{ trigger.number }}')).toBe('77');
  });

  test('leaves out missing values', () => {
    expect(rendered('[{{ trigger.missing }}]')).toBe('[]');
  });

  test('does not evaluate a value as a template again', () => {
    expect(rendered('{{ trigger.title }}')).toBe('{{ trigger.secret }}');
    expect(rendered('Title: {{ trigger.title }}')).toBe('Title: {{ trigger.secret }}');
  });

  test('without expressions stays as it is, including single braces', () => {
    expect(rendered('a } b { c #} }}')).toBe('a } b { c #} }}');
    expect(rendered('x'.repeat(10_000))).toHaveLength(10_000);
  });

  test('can trim the white space around an expression', () => {
    expect(rendered('a  {{- trigger.number -}}  b')).toBe('a7b');
  });

  test('has no value if it would be longer than a comment can be', () => {
    const long = { trigger: { text: 'x'.repeat(40_000) } };
    expect(compileTemplate('{{ trigger.text }} {{ trigger.text }}').evaluate(long)).toBeUndefined();
  });

  test('of white space and trim marks takes little work', () => {
    withinEffort(50, () => rendered(`${' '.repeat(1_900)}x {{- 1 -}}`));
  });
});

describe('the inputs of a step', () => {
  test('are rendered at any depth, and keys and other values stay as they are', () => {
    expect(
      renderWith(
        { pr: '{{ trigger.number }}', deep: [{ '{{ key }}': 'n{{ trigger.number }}' }], on: true, no: null },
        context,
      ),
    ).toEqual({ pr: 7, deep: [{ '{{ key }}': 'n7' }], on: true, no: null });
  });

  test('are null where the context has nothing, so that the missing input is noticed', () => {
    expect(renderWith({ pr: '{{ trigger.missing }}' }, context)).toEqual({ pr: null });
  });
});
