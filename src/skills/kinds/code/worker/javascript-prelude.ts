/**
 * The functions of JavaScript programs, defined inside the engine before the program runs. It saves the
 * built-ins that it needs, so that a program that changes `JSON` or a prototype breaks only itself.
 */
export const JAVASCRIPT_PRELUDE = `
(ask, print, input) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { defineProperty } = Object;
  const TypeErrorOf = TypeError, ErrorOf = Error, StringOf = String;
  const put = (name, value) => defineProperty(globalThis, name, { value, enumerable: true });
  const json = (values) => {
    const text = stringify(values);
    if (text === undefined) throw new TypeErrorOf('this is no JSON');
    return text;
  };
  const call = (name, values) => {
    const reply = parse(ask(name, json(values)));
    if (reply.refused !== undefined) throw new ErrorOf(reply.refused);
    return reply.answer;
  };
  put('input', parse(input));
  put('search', (text) => call('search', [text]));
  put('get_file', (path) => call('get_file', [path]));
  put('get_files', (paths) => call('get_files', [paths]));
  put('get_diff', () => call('get_diff', []));
  put('get_history', (path) => call('get_history', [path]));
  put('llm_query', (prompt) => call('llm_query', [prompt]));
  put('llm_query_batched', (prompts) => call('llm_query_batched', [prompts]));
  put('checkpoint', (value) => call('checkpoint', [plain(value)]));
  put('get_ci_files', (artifact) => call('get_ci_files', [artifact]));
  put('render_prompt', (path, values = {}) => call('render_prompt', [path, plain(values)]));
  put('run_skill', (name, inputs = {}) => call('run_skill', [name, plain(inputs)]));
  put('write_artifact', (name, content) => call('write_artifact', [name, content]));
  put('submit', (value) => call('submit', [plain(value)]));
  // JSON would make null of what it cannot say, and a result would be another than was meant.
  const plain = (value) => {
    stringify(value, (key, member) => {
      const type = typeof member;
      if (type === 'undefined' || type === 'function' || type === 'symbol' || type === 'bigint')
        throw new TypeErrorOf(type + ' is no JSON');
      if (type === 'number' && member - member !== 0) throw new TypeErrorOf(member + ' is no JSON');
      return member;
    });
    return value;
  };
  const show = (value) => (typeof value === 'string' ? value : (stringify(value) ?? StringOf(value)));
  const write = (...values) => print(values.map(show).join(' ') + '\\n');
  put('print', write);
  put('console', { log: write, info: write, warn: write, error: write, debug: write });
}
`;
