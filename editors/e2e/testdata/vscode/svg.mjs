// Makes an SVG of what a page shows: backgrounds, borders and text where the browser has put them. Icons of fonts become
// characters that look like them.

// Runs in the page.
function paint(icons, logo) {
  const out = [];
  const number = (n) => String(Math.round(n * 10) / 10);
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
  const clear = (color) => color === 'transparent' || /, 0\)$/.test(color);
  const meet = (a, b) => ({ left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) });
  const empty = (r) => r.right - r.left < 0.5 || r.bottom - r.top < 0.5;
  const alpha = (opacity) => (opacity < 1 ? ` opacity="${number(opacity)}"` : '');

  const rectangle = (r, fill, radius, opacity) =>
    out.push(`<rect x="${number(r.left)}" y="${number(r.top)}" width="${number(r.right - r.left)}" height="${number(r.bottom - r.top)}"${radius ? ` rx="${radius}"` : ''} fill="${fill}"${alpha(opacity)}/>`);

  const text = (what, r, style, clip, opacity) => {
    let shown = what.replace(/\u00a0/g, ' ');
    let width = r.right - r.left;
    const room = Math.min(clip.right, innerWidth) - r.left;
    const cut = width > room + 1;
    if (cut) {
      // What does not fit is cut, as the browser does it.
      const fits = Math.max(0, Math.floor((shown.length * room) / width) - 1);
      width *= (fits + 1) / shown.length;
      shown = shown.slice(0, fits) + '…';
    }
    if (!shown.trim() || width < 1) {
      return;
    }
    const lead = shown.length - shown.trimStart().length;
    const step = width / shown.length;
    const body = shown.trim();
    const attributes = [
      `x="${number(r.left + lead * step)}"`,
      `y="${number(r.top + (r.bottom - r.top) * 0.797)}"`,
      `font-size="${number(parseFloat(style.fontSize))}"`,
      `fill="${style.color}"`,
      /mono/i.test(style.fontFamily) ? 'class="m"' : '',
      Number(style.fontWeight) >= 600 ? 'font-weight="bold"' : '',
      style.fontStyle === 'italic' ? 'font-style="italic"' : '',
      !cut && body.length > 1 && lead + body.length === shown.length ? `textLength="${number(width - lead * step)}"` : '',
    ];
    out.push(`<text ${attributes.filter((a) => a).join(' ')}${alpha(opacity)}>${escaped(body)}</text>`);
  };

  const icon = (element, style, r, opacity) => {
    const before = getComputedStyle(element, '::before');
    const glyph = /^"(.)"$/su.exec(before.content)?.[1];
    if (!glyph) {
      return;
    }
    const size = Math.min(parseFloat(before.fontSize) || 16, 24);
    const names = [...element.classList].map((c) => /^codicon-(.+)$/.exec(c)?.[1]).filter((n) => n);
    const name = names.map((n) => (n in icons ? n : Object.keys(icons).find((known) => n.includes(known)))).find((n) => n);
    const private_ = /[\ue000-\uf8ff]/.test(glyph);
    const shown = name ? icons[name] : private_ ? '▪' : glyph;
    // An icon stands before the text of its element, or fills it.
    const x = element.childNodes.length > 0 && element.textContent.trim() ? r.left + size / 2 : (r.left + r.right) / 2;
    const color = clear(before.color) ? style.color : before.color;
    out.push(`<text x="${number(x)}" y="${number((r.top + r.bottom) / 2 + size * 0.33)}" font-size="${number(size * 0.95)}" text-anchor="middle" fill="${color}"${alpha(opacity)}>${escaped(shown)}</text>`);
  };

  const walk = (element, clip, opacity) => {
    const style = getComputedStyle(element);
    opacity *= Number(style.opacity);
    if (style.display === 'none' || opacity < 0.05) {
      return;
    }
    const box = element.getBoundingClientRect();
    const seen = meet(box, clip);
    const visible = style.visibility === 'visible' && !empty(seen);
    if (visible && style.maskImage !== 'none' && /agentls/.test(style.maskImage + element.className)) {
      const scale = Math.min(box.width, box.height) / 24 || 1;
      out.push(`<g transform="translate(${number((box.left + box.right) / 2 - 12 * scale)} ${number((box.top + box.bottom) / 2 - 12 * scale)}) scale(${number(scale)})" fill="none" stroke="${style.backgroundColor}" stroke-width="1.6">${logo}</g>`);
    } else if (visible) {
      if (!clear(style.backgroundColor) && style.maskImage === 'none') {
        rectangle(seen, style.backgroundColor, parseFloat(style.borderTopLeftRadius) || 0, opacity);
      }
      for (const [side, r] of [
        ['Top', { ...seen, bottom: box.top + parseFloat(style.borderTopWidth) }],
        ['Bottom', { ...seen, top: box.bottom - parseFloat(style.borderBottomWidth) }],
        ['Left', { ...seen, right: box.left + parseFloat(style.borderLeftWidth) }],
        ['Right', { ...seen, left: box.right - parseFloat(style.borderRightWidth) }],
      ]) {
        const part = meet(r, clip);
        if (style[`border${side}Style`] === 'solid' && !clear(style[`border${side}Color`]) && !empty(part)) {
          rectangle(part, style[`border${side}Color`], 0, opacity);
        }
      }
      icon(element, style, box, opacity);
      // A text behind an element that is empty otherwise, as VS Code decorates lines.
      const after = getComputedStyle(element, '::after');
      const behind = /^"(.{2,})"$/su.exec(after.content)?.[1];
      if (behind && !element.textContent.trim()) {
        text(behind.replace(/\\(.)/g, '$1'), { ...box.toJSON(), left: box.left + (parseFloat(after.marginLeft) || 0), right: box.right }, after, clip, opacity);
      }
      const squiggle = /squiggly-(error|warning|info)/.exec(element.className);
      if (squiggle) {
        const steps = Math.max(1, Math.round((seen.right - seen.left) / 4));
        out.push(`<path d="M${number(seen.left)} ${number(seen.bottom - 1)}${'l2 -2l2 2'.repeat(steps)}" fill="none" stroke="${{ error: '#f14c4c', warning: '#cca700', info: '#3794ff' }[squiggle[1]]}"/>`);
      }
    }
    const inner = style.overflowX !== 'visible' || style.overflowY !== 'visible' ? meet(box, clip) : clip;
    if (empty(inner)) {
      return;
    }
    const children = [...element.childNodes].map((child) => ({ child, z: child.nodeType === 1 ? Number(getComputedStyle(child).zIndex) || 0 : 0 }));
    children.sort((a, b) => a.z - b.z);
    for (const { child } of children) {
      if (child.nodeType === 1) {
        walk(child, inner, opacity);
      } else if (child.nodeType === 3 && child.data.trim() && style.visibility === 'visible') {
        const range = document.createRange();
        range.selectNodeContents(child);
        const lines = [...range.getClientRects()];
        if (lines.length === 1) {
          if (!empty(meet(lines[0], inner))) {
            text(child.data, lines[0], style, inner, opacity);
          }
          continue;
        }
        // A text in several lines: find which characters stand in which.
        let start = 0;
        let top;
        const rectOf = (from, to) => {
          range.setStart(child, from);
          range.setEnd(child, to);
          return range.getBoundingClientRect();
        };
        for (let i = 0; i <= child.length; i++) {
          const r = i < child.length ? rectOf(i, i + 1) : undefined;
          if (r && r.width === 0) {
            continue;
          }
          if (top !== undefined && (!r || Math.abs(r.top - top) > 3)) {
            const line = rectOf(start, i);
            if (!empty(meet(line, inner))) {
              text(child.data.slice(start, i), line, style, inner, opacity);
            }
            start = i;
          }
          top = r?.top;
        }
      }
    }
  };
  walk(document.body, { left: 0, top: 0, right: innerWidth, bottom: innerHeight }, 1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${innerWidth} ${innerHeight}" font-family="system-ui, 'DejaVu Sans', sans-serif" xml:space="preserve">\n<style>.m{font-family:ui-monospace,'DejaVu Sans Mono',monospace}</style>\n${out.join('\n')}\n</svg>\n`;
}

const icons = {
  'explorer-view': '❐', 'search-view': '⌕', 'source-control-view': '⎇', 'run-view': '▷', 'extensions-view': '⊞', 'accounts-view': '☺', 'settings-view': '⚙', 'notifications-clear': '✕', 'notifications-configure': '⚙', 'widget-close': '✕',
  'account': '☺', 'bell': '◠', 'bell-dot': '◠', 'check': '✓', 'check-all': '✓', 'chevron-down': '⌄', 'chevron-right': '›', 'tree-item-expanded': '⌄', 'circle-slash': '⊘', 'close': '✕',
  'close-all': '✕', 'close-dirty': '●', 'collapse-all': '⊟', 'comment-discussion': '▤', 'debug-alt': '▷', 'debug-continue': '▷', 'debug-stop': '■', 'diff': '±', 'diff-multiple': '±', 'ellipsis': '…',
  'error': '⊗', 'extensions': '⊞', 'files': '▤', 'gear': '⚙', 'history': '↺', 'info': 'ℹ', 'layout': '▦', 'light-bulb': '☼', 'lightbulb': '☼', 'loading': '◌', 'menu': '≡', 'more': '…',
  'toolbar-more': '…', 'pass': '✔', 'play': '▷', 'question': '?', 'refresh': '↻', 'remote': '⟩⟨', 'robot': '☷', 'search': '⌕', 'settings-gear': '⚙', 'source-control': '⎇', 'split-horizontal': '◫', 'warning': '⚠',
  'watch': '◷', 'x': '✕', 'arrow-left': '←', 'arrow-right': '→', 'radio-tower': '⍑', 'symbol-misc': '·',
};

const logo = '<circle cx="12" cy="5.2" r="2.7"/><circle cx="5.2" cy="18.3" r="2.7"/><circle cx="18.8" cy="18.3" r="2.7"/><path d="M12 8v3.8M12 11.8c0 2-6.8 1.4-6.8 3.8M12 11.8c0 2 6.8 1.4 6.8 3.8"/>';

// The page as the text of an SVG.
export function svg(page) {
  return page.evaluate(({ source, icons, logo }) => new Function(`return ${source}`)()(icons, logo), { source: paint.toString(), icons, logo });
}
