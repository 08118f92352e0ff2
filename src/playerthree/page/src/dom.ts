/** Elements and their text. Data reaches the document as text and attributes only, never as markup. */

type Child = Node | string | undefined | false;

/** What an element may be given: attributes as text, and listeners by event name. */
export interface Props {
  readonly [attribute: string]: string | number | boolean | undefined | ((event: never) => void);
}

/** Makes an element. `class` and other attributes are texts, `true` is an empty attribute, a function is a listener. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name, value as (event: Event) => void);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...present(children));
  return element;
}

/** Replaces what an element contains. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...present(children));
}

/** Sets a text only where it differs, so that a screen reader is told of changes alone. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A labelled control. */
export function field(label: string, control: HTMLElement): HTMLLabelElement {
  return el("label", { class: "field" }, el("span", {}, label), control);
}

/** A choice between named values. */
export function select(
  options: readonly (readonly [value: string, label: string])[],
  chosen: string,
  props: Props = {},
): HTMLSelectElement {
  const control = el("select", props, ...options.map(([value, label]) => el("option", { value }, label)));
  control.value = chosen;
  return control;
}

/** A short message that leaves by itself. */
export function toast(text: string, kind: "info" | "error" = "info"): void {
  const toasts = document.getElementById("toasts");
  if (!toasts) return;
  const message = el("div", { class: `toast ${kind}` }, text);
  toasts.append(message);
  while (toasts.childElementCount > 3) toasts.firstElementChild?.remove();
  setTimeout(() => message.remove(), 6_000);
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => child !== undefined && child !== false);
}
