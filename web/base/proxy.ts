/** Objects that work behind a Proxy, such as those that Vue's reactive() creates. */

const SELF = Symbol("self");

/** Called in the constructor of a class of {@link throughProxies}. A function passes a Proxy unchanged. */
export function keepSelf(object: object): void {
  Object.defineProperty(object, SELF, { value: () => object });
}

/** Lets the methods of a class, called on a Proxy, work on the object itself: a Proxy has no private fields. */
export function throughProxies({ prototype }: { readonly prototype: object }): void {
  const selfOf = (object: unknown) => (object as { [SELF]?: () => object } | undefined)?.[SELF]?.() ?? object;
  for (const key of Reflect.ownKeys(prototype)) {
    const property = Object.getOwnPropertyDescriptor(prototype, key)!;
    const { value, get } = property as { value?: unknown; get?: () => unknown };
    if (key === "constructor") continue;
    if (typeof value === "function") {
      const named = { [key](this: unknown, ...args: unknown[]): unknown { return value.apply(selfOf(this), args); } };
      property.value = named[key as string]; // so that stacks show its name
    }
    if (get) property.get = function (this: unknown) { return get.call(selfOf(this)); };
    Object.defineProperty(prototype, key, property);
  }
}
