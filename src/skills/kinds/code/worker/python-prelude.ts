/**
 * The functions of Python programs: a function that defines their names, from `ask`, `print` and the input's
 * JSON. It runs before the program. `allow_nan` is off because NaN is not valid JSON. It clears the
 * environment twice: `os.environ` with C's variables behind it, and the copy that Python made at its start.
 */
export const PYTHON_PRELUDE = `
def _prepare(ask, source, file_name, input_json):
    import json
    import os
    import posix

    os.environ.clear()
    posix.environ.clear()

    class HostError(RuntimeError):
        """A question that was not answered; its message says why."""

    def call(name, *values):
        reply = json.loads(ask(name, json.dumps(values, allow_nan=False)))
        if 'refused' in reply:
            raise HostError(reply['refused'])
        return reply['answer']

    names = {
        '__name__': '__main__',
        'input': json.loads(input_json),
        'HostError': HostError,
        'search': lambda text: call('search', text),
        'get_file': lambda path: call('get_file', path),
        'get_files': lambda paths: call('get_files', list(paths)),
        'get_diff': lambda: call('get_diff'),
        'get_history': lambda path: call('get_history', path),
        'llm_query': lambda prompt: call('llm_query', prompt),
        'llm_query_batched': lambda prompts: call('llm_query_batched', list(prompts)),
        'checkpoint': lambda value: call('checkpoint', value),
        'get_ci_files': lambda artifact: call('get_ci_files', artifact),
        'render_prompt': lambda path, values={}: call('render_prompt', path, values),
        'run_skill': lambda name, inputs={}: call('run_skill', name, inputs),
        'write_artifact': lambda name, content: call('write_artifact', name, content),
        'submit': lambda value: call('submit', value),
    }
    exec(compile(source, file_name, 'exec'), names)

_prepare
`;
