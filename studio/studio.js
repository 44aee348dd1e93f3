// Small helpers of Studio's pages. Every page works without this file.

// Leads on once a live part says where to.
(() => {
  const part = document.querySelector('#live');
  if (!part) return;
  new MutationObserver(() => {
    const to = part.querySelector('a[data-go]');
    if (to) location.replace(to.href);
  }).observe(part, { childList: true, subtree: true });
})();

// Keys: j and k move through the list of a page, / goes to its search, ? lists the keys.
(() => {
  const keys = [
    ['j', 'next in the list'],
    ['k', 'previous in the list'],
    ['Enter', 'open it'],
    ['/', 'search'],
    ['?', 'these keys'],
  ];

  function isTyping({ target }) {
    return target instanceof Element && target.closest('input, select, textarea, dialog') !== null;
  }

  function move(by) {
    const links = [...document.querySelectorAll('.items a.main')];
    const at = links.findIndex((link) => link.closest('li')?.contains(document.activeElement));
    const next = links[at === -1 ? (by > 0 ? 0 : links.length - 1) : at + by];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  }

  function help() {
    let dialog = document.querySelector('dialog.keys');
    if (!dialog) {
      dialog = document.createElement('dialog');
      dialog.className = 'keys';
      dialog.setAttribute('aria-label', 'Keys');
      const list = document.createElement('dl');
      for (const [key, what] of keys) {
        const name = document.createElement('dt');
        name.append(Object.assign(document.createElement('kbd'), { textContent: key }));
        list.append(name, Object.assign(document.createElement('dd'), { textContent: what }));
      }
      const close = Object.assign(document.createElement('button'), { textContent: 'Close' });
      close.addEventListener('click', () => dialog.close());
      dialog.append(list, close);
      document.body.append(dialog);
    }
    dialog.showModal();
  }

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const search = document.querySelector('input[type="search"]');
    if (event.key === 'j') move(1);
    else if (event.key === 'k') move(-1);
    else if (event.key === '?') help();
    else if (event.key === '/' && search) search.focus();
    else return;
    event.preventDefault();
  });
})();

// Streams: htmx returns to one that broke, and here to one that could not begin.
(() => {
  function again({ target, detail }) {
    const status = detail.ctx?.response?.status ?? 500;
    if (status < 500 || !target.hasAttribute?.('hx-sse:connect')) return;
    setTimeout(() => target.dispatchEvent(new Event('again')), 2_000 + 3_000 * Math.random());
  }
  document.addEventListener('htmx:error', again);
  document.addEventListener('htmx:response:error', again);
})();
