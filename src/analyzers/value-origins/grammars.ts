/** What the syntax trees of a language call their parts, and which calls bring or stop what a request says. */
export interface Grammar {
  functions: ReadonlySet<string>;
  call: string;
  /** Statements that give a name a value, by the fields of the name and the value. */
  assignments: Readonly<Record<string, readonly [name: string, value: string]>>;
  /** Values that the program itself fixes. */
  fixed: ReadonlySet<string>;
  /** Names of constants by convention. */
  constant: RegExp;
  /** Parts that say no more than a truth or a number, and functions. */
  harmless: ReadonlySet<string>;
  /** An expression that holds what a request says. */
  request: RegExp;
  /** Functions whose result does no harm, or is a value of the program's own. */
  cleaning: RegExp;
  /** Functions that put text together. */
  joining: RegExp;
  /** A decorator that makes a function answer requests, so that its parameters are what they say. */
  handler?: RegExp;
}

const PYTHON: Grammar = {
  functions: new Set(['function_definition', 'lambda']),
  call: 'call',
  assignments: {
    assignment: ['left', 'right'],
    augmented_assignment: ['left', 'right'],
    named_expression: ['name', 'value'],
    for_statement: ['left', 'right'],
  },
  fixed: new Set(['integer', 'float', 'true', 'false', 'none', 'string_content']),
  constant: /^[A-Z][A-Z0-9_]*$/,
  harmless: new Set(['comparison_operator', 'not_operator', 'lambda']),
  request:
    /^(?:flask\.|self\.)?request\.(?:args|form|values|json|data|files|cookies|headers|GET|POST|COOKIES|META|FILES|body|query_params|path_params|match_info|query|rel_url)\b|^(?:flask\.|self\.)?request\.(?:get_json|get_data|json|form|body|text)\(|^self\.get_(?:query_|body_)?argument\(/,
  cleaning:
    /(?:^|\.)(?:int|float|bool|len|quote|quote_plus|urlencode|escape|conditional_escape|clean|secure_filename|basename|safe_join|literal_eval|UUID|url_for|reverse|hexdigest|format_html|isinstance|hash|index)$/,
  joining: /\.format$|(?:^|\.)join$/,
  handler: /^@\s*[\w.]+\.(?:route|get|post|put|delete|patch|websocket|api_route)\(/,
};

const GO: Grammar = {
  functions: new Set(['function_declaration', 'method_declaration', 'func_literal']),
  call: 'call_expression',
  assignments: {
    short_var_declaration: ['left', 'right'],
    assignment_statement: ['left', 'right'],
    range_clause: ['left', 'right'],
    var_spec: ['name', 'value'],
    const_spec: ['name', 'value'],
  },
  fixed: new Set([
    'interpreted_string_literal',
    'raw_string_literal',
    'int_literal',
    'float_literal',
    'rune_literal',
    'true',
    'false',
    'nil',
  ]),
  constant: /^[A-Z][A-Z0-9_]+$/,
  harmless: new Set(['func_literal']),
  request:
    /^\w*(?:r|req|request|Request)\.(?:URL\.(?:Query\(\)|Path|RawQuery|Host)|FormValue\(|PostFormValue\(|PathValue\(|Header\.Get\(|Form\b|PostForm\b|Host\b|RequestURI\b)|^(?:c|ctx)\.Request\.|^(?:c|ctx)\.(?:Query|DefaultQuery|Param|Params|PostForm|DefaultPostForm|GetHeader|FormValue|QueryParam)\(|^(?:mux\.Vars|chi\.URLParam)\(/,
  cleaning:
    /^(?:strconv\.(?:Atoi|Itoa|Parse(?:Int|Uint|Float|Bool)|Quote)|(?:filepath|path)\.Base|html\.EscapeString|template\.(?:HTML|JS|URLQuery)Escape(?:String|er)|url\.(?:Query|Path)Escape|len|int|int64|uint|uuid\.(?:Parse|MustParse)|shell(?:escape|quote)\.(?:Quote|Join)|pq\.Quote\w+)$/,
  joining: /^fmt\.Sprintf?$|^strings\.Join$/,
};

export const GRAMMARS_OF_ORIGINS = { python: PYTHON, go: GO } as const;
