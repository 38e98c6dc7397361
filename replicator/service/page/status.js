// Fetches status.json every other second and changes what has changed on the page, and nothing else.
'use strict';

const kEvery = 2000, kEveryHidden = 10000, kPatience = 5000;
const kIcons = { good: '✓', busy: '↻', warn: '!', bad: '✕', gone: '✕' };
const kHeadlineHelp = {
  'No leader': 'nobody', 'Hangs': 'stuck', 'Stuck': 'stuck', 'Not running': 'waiting',
  'Waiting for Elasticsearch': 'waiting', 'Waiting for the database': 'waiting',
};
const $ = id => document.getElementById(id);

// What a person reads.
const grouped = number => Math.round(number).toLocaleString('en-US');
const plural = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`;
  const whole = Math.floor(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor(whole / 3600) % 24} h`;
}
const rate = value => `${value > 0 && value < 9.95 ? value.toFixed(1) : grouped(value)}/s`;
function size(bytes) {
  let value = bytes;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (value < 1024) return unit === 'B' ? `${value} B` : `${value.toFixed(1)} ${unit}`;
    value /= 1024;
  }
  return `${value.toFixed(1)} TiB`;
}
const clock = date => date.toLocaleTimeString('en-GB');
const when = text => new Date(text).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const point = text => text === '' || text.endsWith('.') ? text : `${text}.`;

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Calls make(data) for the children of a node, only when the data has changed: what a person has selected or focused stays.
const shown = new Map();
function show(node, data, make) {
  const text = JSON.stringify(data);
  if (shown.get(node) === text) return;
  shown.set(node, text);
  node.replaceChildren(...make(data));
}
function showSection(id, data, inner, make) {
  const section = $(id);
  section.hidden = data.length === 0;
  show(section.querySelector(inner), data, make);
}

// Roles are given by hand: on a narrow screen the parts of a table are blocks, which have none.
function table(heads, rows) {
  const cell = (tag, role, content, head) => {
    const made = element(tag, { role, 'data-label': head.text, class: head.number ? 'number' : '' }, content);
    if (tag === 'th') made.setAttribute('scope', role === 'columnheader' ? 'col' : 'row');
    return made;
  };
  return [
    element('thead', { role: 'rowgroup' },
            element('tr', { role: 'row' }, ...heads.map(head => cell('th', 'columnheader', head.text, head)))),
    element('tbody', { role: 'rowgroup' }, ...rows.map(row => element('tr', { role: 'row' }, ...row.map((content, at) =>
      cell(at === 0 ? 'th' : 'td', at === 0 ? 'rowheader' : 'cell', content, heads[at]))))),
  ];
}
const help = (text, id) => element('a', { href: `#help-${$(`help-${id}`) ? id : 'other'}` }, text);

class Chart {
  constructor(id, text, least) {
    this.figure = $(id);
    this.text = text;
    this.least = least;  // what the height of the chart stands for at least
    this.output = this.figure.querySelector('output');
    this.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.svg.setAttribute('preserveAspectRatio', 'none');
    this.svg.setAttribute('role', 'img');
    [this.area, this.line, this.cursor] = ['area', 'line', 'cursor'].map(name => {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      path.setAttribute('class', name);
      this.svg.append(path);
      return path;
    });
    this.top = element('span', {});
    this.figure.append(element('div', { class: 'scale' }, this.top), this.svg,
                       element('div', { class: 'scale' }, element('span', {}, '1 h ago'), element('span', {}, 'now')));
    this.at = null;
    this.svg.addEventListener('pointermove', event => {
      const box = this.svg.getBoundingClientRect();
      this.move(Math.floor((event.clientX - box.left) / box.width * this.values.length));
    });
    this.svg.addEventListener('pointerleave', () => this.move(null));
    this.figure.addEventListener('blur', () => this.move(null));
    this.figure.addEventListener('keydown', event => {
      const step = { ArrowLeft: -6, ArrowRight: 6 }[event.key];
      if (step) {
        this.move((this.at ?? this.values.length - 1) + step);
        event.preventDefault();
      }
    });
    this.values = [];
  }

  move(at) {
    this.at = at === null ? null : Math.max(0, Math.min(this.values.length - 1, at));
    this.tell();
  }

  tell() {
    const at = this.at ?? this.values.length - 1;
    const value = this.values[at];
    const ago = (this.values.length - 1 - at) * this.step;
    write(this.output, (value === null || value === undefined ? 'not known' : this.text(value)) + (ago ? `, ${duration(ago)} ago` : ''));
    this.cursor.setAttribute('d', this.at === null ? '' : `M${at + .5} 0V100`);
  }

  draw(values, step) {
    this.values = values;
    this.step = step;
    const known = values.filter(value => value !== null);
    const most = known.length ? Math.max(...known) : 0;
    const height = Math.max(most, this.least);
    const y = value => (97 - value / height * 94).toFixed(2);
    let line = '', area = '', from = null;
    values.forEach((value, at) => {
      if (value !== null) {
        if (from === null) from = at;
        line += `${from === at ? 'M' : 'L'}${at} ${y(value)}L${at + 1} ${y(value)}`;
        area += from === at ? `M${at} 100L${at} ${y(value)}L${at + 1} ${y(value)}` : `L${at} ${y(value)}L${at + 1} ${y(value)}`;
      }
      if (from !== null && (value === null || at === values.length - 1)) {
        area += `L${value === null ? at : at + 1} 100Z`;
        from = null;
      }
    });
    this.svg.setAttribute('viewBox', `0 0 ${values.length} 100`);
    this.line.setAttribute('d', line);
    this.area.setAttribute('d', area);
    write(this.top, known.length ? `at most ${this.text(most)}` : 'nothing known yet');
    const now = known.length ? values[values.length - 1] ?? known[known.length - 1] : null;
    this.svg.setAttribute('aria-label', now === null ? 'nothing known yet' : `now ${this.text(now)}, at most ${this.text(most)} in the last hour`);
    this.tell();
  }
}

let lagChart, rateChart;

function attention(status) {
  const list = [];
  for (const index of status.indices) {
    if (index.set_aside) list.push([`${index.alias} is not followed: its view or a job cannot be read.`, 'set-aside']);
  }
  for (const each of status.reindexes ?? []) {
    if (each.failed) list.push([`The reindex of ${each.alias} failed.`, 'reindex']);
    else if (each.waits) list.push([`The reindex of ${each.alias} waits.`, 'reindex']);
  }
  for (const warning of status.warnings) list.push([point(warning), 'warnings']);
  return list;
}

function dueRow([alias, due]) {
  const found = due.documents ? [plural(due.documents, 'document')] : [];
  if (due.changes) found.push('changes whose documents are still to be found');
  const speed = due.documents_per_second ? `, ${rate(due.documents_per_second)}` : '';
  const left = due.seconds_left === null ? '' : `, about ${duration(due.seconds_left)} left`;
  return element('li', {}, element('strong', {}, alias), due.reason ? ` ${due.reason}` : '', element('br', {}),
                 `${found.join(', and ')}, the oldest for ${duration(due.oldest_seconds)}${speed}${left}`);
}

function jobRow([alias, job]) {
  const total = job.total === null ? '' : ` of about ${grouped(job.total)}`;
  const share = job.total ? ` (${Math.min(100, Math.floor(job.done * 100 / job.total))} %)` : '';
  const left = job.seconds_left === null ? '' : `, about ${duration(job.seconds_left)} left`;
  const row = element('li', {}, element('strong', {}, alias), ` ${job.kind}: ${job.reason}`, element('br', {}));
  if (job.unreadable) {
    row.append(element('span', { class: 'bad' }, 'It cannot be done. '), help('What to do', 'set-aside'));
    return row;
  }
  row.append(`${grouped(job.done)}${total} documents${share}${left}`);
  if (job.total) {
    row.append(element('progress', { max: job.total, value: Math.min(job.done, job.total), 'aria-label': `${alias}: ${job.kind}` }));
  }
  return row;
}

function indexRows(status) {
  const count = number => number === null || number === undefined ? 'not known' : grouped(number);
  return status.indices.map(index => {
    const reindex = (status.reindexes ?? []).find(each => each.alias === index.alias);
    let generation = reindex?.live || 'one';
    if (reindex?.beside) {
      const kept = reindex.keep_seconds === null ? reindex.state : `kept for ${duration(reindex.keep_seconds)}`;
      generation = `${reindex.live}, and ${reindex.beside}: ${kept}`;
    }
    const followed = index.set_aside ? element('span', { class: 'bad' }, '✕ not followed') : element('span', { class: 'good' }, '✓ followed');
    return [index.alias, followed, generation, count(index.documents), count(index.deletes), count(index.superseded),
            index.dead_letters ? element('span', { class: 'warn' }, grouped(index.dead_letters)) : '0'];
  });
}

function server(told) {
  if (told.answers === true) return [element('span', { class: 'good' }, '✓ answers')];
  if (told.answers === null) return [element('span', { class: 'soft' }, '? not asked yet')];
  return [element('span', { class: 'bad' }, '✕ does not answer, or refuses'), told.reason ? `: ${told.reason}` : ''];
}

function leader(told) {
  if (told === undefined) return 'not known yet';
  if (told === null) return 'none: the pipeline has never run';
  const who = `${told.host}, process ${told.pid}, since ${when(told.since)}`;
  return told.runs ? who : [element('span', { class: 'bad' }, 'none'), `; the last one was ${who}, heard ${duration(told.heard_seconds)} ago`];
}

function standbys(told) {
  if (told === undefined) return 'not known yet';
  if (told === null) return 'this database does not know them';
  if (told.length === 0) return [element('span', { class: 'warn' }, 'none'), ': no process takes over when the leader dies'];
  return told.map(each => `${each.host || 'on the machine of the database'}, since ${when(each.since)}`).join('; ');
}

// As `lockstep status` says it; 100 % only if nothing was missed.
function freshness(slo) {
  const percent = Math.floor(Math.max(0, slo.share) * 10000) / 100;
  const known = slo.known_seconds + 300 >= 86400 ? 'day' : `${duration(slo.known_seconds)}; more is not known`;
  return `within ${duration(slo.lag_seconds)} for ${percent} % of the last ${known}`;
}

function facts(status) {
  const outbox = size(status.outbox_bytes) + (status.outbox_max_bytes ? ` of ${size(status.outbox_max_bytes)}` : '');
  const rows = [
    ['Database', server(status.servers.database)],
    ['Elasticsearch', server(status.servers.elasticsearch)],
    ['Leader', leader(status.leader)],
    ['Stands by', standbys(status.standbys)],
    ['This process', `${status.host}, process ${status.pid}, ${status.state.replaceAll('_', ' ')}`],
    ['Epoch', grouped(status.epoch)],
    ['Outbox', outbox],
    ...(status.slo ? [['Freshness', freshness(status.slo)]] : []),
    ['Bulk requests', `${grouped(status.bulks_in_flight)} in flight, ${grouped(status.bulk_retries)} repeated`],
  ];
  if (status.source_trouble) rows.push(['Last look at the database', [element('span', { class: 'bad' }, '✕ failed'), `: ${status.source_trouble}`]]);
  return rows;
}

function render(status) {
  document.title = `${status.headline.word} · ${status.pipeline} · lockstep`;
  write($('pipeline'), status.pipeline);
  write($('version'), `lockstep ${status.version}`);
  $('headline').dataset.tone = status.headline.tone;
  write($('icon'), kIcons[status.headline.tone]);
  write($('word'), status.headline.word);
  write($('text'), point(status.headline.text));
  const advice = kHeadlineHelp[status.headline.word];
  $('advice').hidden = !advice;
  if (advice) $('advice-link').href = `#help-${advice}`;

  lagChart.draw(status.history.lag, status.history.step_seconds);
  rateChart.draw(status.history.rate, status.history.step_seconds);
  showSection('attention', attention(status), 'ul', list => list.map(([text, id]) => element('li', {}, `${text} `, help('What to do', id))));
  const letters = status.indices.flatMap(index => index.refused.map(kind => [index.alias, kind.error, kind.documents]));
  showSection('letters', letters, 'table', list => table(
    [{ text: 'error' }, { text: 'index' }, { text: 'documents', number: true }, { text: 'help' }],
    list.map(([alias, error, documents]) => [error, alias, grouped(documents), help('What to do', error)])));
  showSection('due', status.indices.filter(index => index.due).map(index => [index.alias, index.due]), 'ul', list => list.map(dueRow));
  const jobs = status.indices.flatMap(index => index.jobs.map(job => [index.alias, job]));
  showSection('jobs', jobs, 'ul', list => list.map(jobRow));
  show($('indices').querySelector('table'), [status.indices, status.reindexes], () => table(
    [{ text: 'index' }, { text: 'state' }, { text: 'generations' }, { text: 'written', number: true }, { text: 'deleted', number: true },
     { text: 'superseded', number: true }, { text: 'dead letters', number: true }],
    indexRows(status)));
  const told = { ...status, history: 0, source_read_seconds: 0 };
  if (told.leader?.runs) told.leader = { ...told.leader, heard_seconds: 0 };
  show($('facts'), told, () => facts(status).flatMap(([name, value]) =>
    [element('dt', {}, name), element('dd', {}, ...(Array.isArray(value) ? value : [value]))]));
}

let answeredAt = null;
const openedAt = new Date();

function sayGone() {
  const since = answeredAt ?? openedAt;
  const ago = duration(Math.round((Date.now() - since) / 1000));
  document.body.classList.add('stale');
  document.title = `Not answering · ${$('pipeline').textContent} · lockstep`;
  $('headline').dataset.tone = 'gone';
  write($('icon'), kIcons.gone);
  write($('word'), 'Not answering');
  write($('text'), answeredAt ? 'The rest of the page is as it was then.' : 'The service has not answered yet.');
  $('advice').hidden = false;
  $('advice-link').href = '#help-gone';
  write($('gone'), `The service is not answering since ${clock(since)}.`);
  $('gone').hidden = false;
  write($('fresh'), `${ago} ago`);
}

async function refresh() {
  try {
    const reply = await fetch('status.json', { cache: 'no-store', signal: AbortSignal.timeout(kPatience) });
    if (!reply.ok) throw new Error(reply.statusText);
    const status = await reply.json();
    answeredAt = new Date();
    document.body.classList.remove('stale');
    $('gone').hidden = true;
    write($('fresh'), `as of ${clock(answeredAt)}`);
    render(status);
  } catch (error) {
    console.error(error);
    sayGone();
  }
  setTimeout(refresh, document.hidden ? kEveryHidden : kEvery);
}

lagChart = new Chart('lag-chart', duration, 0.05);
rateChart = new Chart('rate-chart', rate, 1);
refresh();
