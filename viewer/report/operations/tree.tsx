/** Shows the rows of the tree. Only those in sight are in the document, because there may be tens of thousands of them. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { duration } from '../../../cli/render/units.js';
import type { Model } from '../model/page-model.js';
import { number, stateWords } from '../model/verdict-words.js';
import type { TreeRow } from '../model/tree-rows.js';

/** Pixels, as the style sheet has it. On a phone the text of an operation has a line of its own. */
const ROW_PX = 30;
const NARROW_ROW_PX = 50;
const NARROW = '(max-width: 600px)';
/** Rows above and below those in sight. */
const SPARE = 8;

interface TreeProps {
  readonly model: Model;
  readonly rows: readonly TreeRow[];
  readonly chosen: number | undefined;
  readonly onToggle: (row: TreeRow) => void;
  readonly onChoose: (span: number) => void;
}

export function Tree({ model, rows, chosen, onToggle, onChoose }: TreeProps) {
  const box = useRef<HTMLDivElement>(null);
  const rowPx = useRowHeight();
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [current, setCurrent] = useState<number | undefined>(chosen);
  const place = Math.max(
    0,
    rows.findIndex(({ span }) => span === (current ?? chosen)),
  );

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const reveal = (index: number): void => {
    const element = box.current;
    if (!element || index < 0) return;
    if (index * rowPx < element.scrollTop) element.scrollTop = index * rowPx;
    else if ((index + 1) * rowPx > element.scrollTop + element.clientHeight) element.scrollTop = (index + 1) * rowPx - element.clientHeight;
  };
  useEffect(() => {
    if (chosen === undefined) return;
    setCurrent(chosen);
    const index = rows.findIndex(({ span }) => span === chosen);
    const element = box.current;
    const isInSight = element && index * rowPx >= element.scrollTop && (index + 1) * rowPx <= element.scrollTop + element.clientHeight;
    if (element && index >= 0 && !isInSight) element.scrollTop = index * rowPx - element.clientHeight / 3;
  }, [chosen]);

  const go = (index: number): void => {
    const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
    if (!row) return;
    setCurrent(row.span);
    reveal(rows.indexOf(row));
  };
  const row = rows[place];
  const page = Math.max(1, Math.floor(height / rowPx) - 1);
  const keys: { readonly [key: string]: () => void } = {
    ArrowDown: () => go(place + 1),
    ArrowUp: () => go(place - 1),
    PageDown: () => go(place + page),
    PageUp: () => go(place - page),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    ArrowRight: () => (row?.isOpen === false ? onToggle(row) : row?.isOpen ? go(place + 1) : undefined),
    ArrowLeft: () =>
      row?.isOpen ? onToggle(row) : go(rows.findLastIndex(({ level }, index) => index < place && level < (row?.level ?? 0))),
    Enter: () => row && onChoose(row.span),
    ' ': () => row && onChoose(row.span),
  };
  const type = (event: KeyboardEvent): void => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  const first = Math.max(0, Math.floor(top / rowPx) - SPARE);
  const seen = rows.slice(first, first + Math.ceil(height / rowPx) + 2 * SPARE);
  const isCurrentSeen = row !== undefined && seen.includes(row);
  if (rows.length === 0) return <p class="muted">No operation is like that.</p>;
  return (
    <div
      ref={box}
      class="tree"
      role="tree"
      aria-label="Operations"
      tabIndex={0}
      aria-activedescendant={isCurrentSeen ? `row-${row.span}` : undefined}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={type}
    >
      <div role="presentation" class="rows" style={{ height: `${rows.length * rowPx}px` }}>
        {seen.map((each, index) => (
          <Row
            key={each.span}
            model={model}
            row={each}
            y={(first + index) * rowPx}
            isChosen={each.span === chosen}
            isCurrent={each === row}
            onToggle={onToggle}
            onChoose={(span) => {
              setCurrent(span);
              onChoose(span);
            }}
          />
        ))}
      </div>
    </div>
  );
}

function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const screen = matchMedia(NARROW);
    const follow = (): void => setNarrow(screen.matches);
    screen.addEventListener('change', follow);
    return () => screen.removeEventListener('change', follow);
  }, []);
  return isNarrow ? NARROW_ROW_PX : ROW_PX;
}

interface RowProps {
  readonly model: Model;
  readonly row: TreeRow;
  readonly y: number;
  readonly isChosen: boolean;
  readonly isCurrent: boolean;
  readonly onToggle: (row: TreeRow) => void;
  readonly onChoose: (span: number) => void;
}

function Row({ model, row, y, isChosen, isCurrent, onToggle, onChoose }: RowProps) {
  const { span, level, place, siblings, isOpen, matches } = row;
  const state = model.stateOf(span);
  const took = duration(model.durationOf(span));
  const name = model.titleOf(span);
  const inside = model.insideOf(span);
  return (
    <div
      id={`row-${span}`}
      role="treeitem"
      aria-level={level}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-expanded={isOpen}
      aria-selected={isChosen}
      class={`item${isCurrent ? ' current' : ''}${matches ? '' : ' around'}`}
      style={{ top: `${y}px`, paddingLeft: `${(level - 1) * 18 + 6}px` }}
      onClick={() => onChoose(span)}
    >
      <span
        class={isOpen === undefined ? 'fold none' : 'fold'}
        aria-hidden="true"
        onClick={(event) => {
          if (isOpen === undefined) return;
          event.stopPropagation();
          onToggle(row);
        }}
      >
        {isOpen === undefined ? '' : isOpen ? '▾' : '▸'}
      </span>
      <span class={`state ${state}`}>
        <span class="hidden">{stateWords(state)} </span>
      </span>
      <b>{name}</b>
      <span class="about">{model.aboutOf(span)}</span>
      {isOpen !== undefined && inside.calls > 1 && (
        <span class="inside">
          {inside.failed > 0 && <b>{number(inside.failed)} without a result</b>} <span class="calls">{number(inside.calls)} calls</span>
        </span>
      )}
      <span class="took">{took}</span>
    </div>
  );
}
