import { addToList, entryOf } from '../../core/map-entries.js';
import type { CallName } from '../calls.js';
import { Comm, Group } from '../constants.js';
import type { CallRecord } from './call-record.js';

/**
 * Which ranks of the run a communicator has, and which communicators of different ranks are the same
 * one: each rank numbers its own, so their numbers say nothing. MPI asks that the members of a
 * communicator make new ones of it in the same order; so the third that one member makes is the third
 * that every other member makes, and what they gave MPI_Comm_split or MPI_Comm_create says who is in it.
 */

/** Communicators, and what ranks said when they made them, that are remembered. */
const MAX_KNOWN = 1 << 20;
/** Groups of one rank, and ranks in them. */
const MAX_GROUP_RANKS = 1 << 20;
/** Ranks in all groups that were derived from others: short records can ask for long ones. */
const MAX_DERIVED_RANKS = 1 << 24;

/** Calls without whose records it is not known which communicators are the same. */
export const MAKING_COMMUNICATORS: readonly CallName[] = [
  'MPI_Comm_dup',
  'MPI_Comm_create',
  'MPI_Comm_split',
  'MPI_Comm_free',
  'MPI_Intercomm_create',
  'MPI_Cart_create',
  'MPI_Graph_create',
  'MPI_Cart_sub',
  'MPI_Comm_group',
  'MPI_Group_incl',
  'MPI_Group_excl',
  'MPI_Group_free',
  'MPI_Group_union',
  'MPI_Group_intersection',
  'MPI_Group_difference',
  'MPI_Group_range_incl',
  'MPI_Group_range_excl',
  'MPI_Comm_remote_group',
  'MPI_Win_get_group',
  'MPI_File_get_group',
];

/** A communicator, the same for all ranks. */
export type CommunicatorId = number;
export const WORLD: CommunicatorId = 0;

/** One that ranks have made out of another one. */
interface Made {
  parent: CommunicatorId;
  /** Ranks in the parent, as MPI_Comm_create's group says them; undefined: all of the parent. */
  ranks: readonly number[] | undefined;
  /** The call of MPI_Comm_split and the members' color; undefined: no split. */
  split: { making: Split; color: number } | undefined;
}

/** One call of MPI_Comm_split, by all ranks. */
interface Split {
  /** By rank. */
  said: Map<number, { color: number; key: number }>;
  /** By color, once they were asked for. */
  members: ReadonlyMap<number, readonly number[]> | undefined;
}

/** A group of a rank: ranks of a communicator, undefined for all of it. */
interface KnownGroup {
  of: CommunicatorId;
  ranks: readonly number[] | undefined;
  /** Offsets in `ranks` of those that do not belong to it: who does is only looked up when it is asked for. */
  without?: ReadonlySet<number>;
}

export class Communicators {
  readonly #world: readonly number[];
  /** By identity. */
  readonly #made: (Made | undefined)[] = [undefined];
  readonly #ids = new Map<string, CommunicatorId>();
  readonly #splits = new Map<string, Split>();
  readonly #members = new Map<CommunicatorId, readonly number[] | undefined>();
  #known = 0;
  #complete = true;

  // Of the rank that is being read.
  #rank = 0;
  readonly #handles = new Map<number, CommunicatorId>();
  readonly #groups = new Map<number, KnownGroup>();
  #groupRanks = 0;
  #derivedRanks = 0;
  /** How many each communicator has been the parent of. */
  readonly #children = new Map<CommunicatorId, number>();

  /** @param size ranks of the run. */
  constructor(size: number) {
    this.#world = Array.from({ length: size }, (_, rank) => rank);
    this.#members.set(WORLD, this.#world);
  }

  /** Begins the calls of a rank. */
  begin(rank: number): void {
    this.#rank = rank;
    this.#groups.clear();
    this.#groupRanks = 0;
    this.#derivedRanks = 0;
    this.#children.clear();
    this.#handles.clear();
    this.#handles.set(Comm.WORLD, WORLD);
  }

  /** A rank has not stored all that it made: nothing but MPI_COMM_WORLD is known from here on. */
  giveUp(): void {
    this.#complete = false;
  }

  /** The communicator that the rank has under a number; undefined where that is not known. */
  idOf(handle: number): CommunicatorId | undefined {
    if (handle === Comm.WORLD) return WORLD;
    return this.#complete ? this.#handles.get(handle) : undefined;
  }

  /**
   * The ranks of the run that a communicator has, in its order; undefined where not all of them have
   * said that they made it. Only when all ranks have been read.
   */
  membersOf(id: CommunicatorId): readonly number[] | undefined {
    if (id !== WORLD && !this.#complete) return undefined;
    if (!this.#members.has(id)) this.#members.set(id, this.#find(id));
    return this.#members.get(id);
  }

  call({ name, fields }: CallRecord): void {
    if (!this.#complete) return;
    switch (name) {
      case 'MPI_Comm_dup':
        this.#define(fields.newcomm, this.#child(fields.oldcomm, 'dup', undefined));
        break;
      case 'MPI_Comm_split':
        this.#define(fields.newcomm, this.#split(fields));
        break;
      case 'MPI_Comm_create': {
        const { oldcomm, newcomm, group } = fields;
        const known = this.#groupOf(group);
        const parent = this.#handles.get(oldcomm);
        const ranks = known?.of === parent ? known?.ranks : undefined;
        const id = this.#child(oldcomm, `create ${ranks?.join() ?? ''}`, ranks);
        this.#define(newcomm, known !== undefined && known.of === parent ? id : undefined);
        break;
      }
      case 'MPI_Cart_create': {
        const { oldcomm, newcomm, dims, reorder } = fields;
        const ranks = dims.reduce((product, dim) => product * dim, 1);
        const has = ranks > 0 && ranks <= this.#world.length;
        const id = this.#child(oldcomm, `cart ${ranks}`, this.#world.slice(0, has ? ranks : 0));
        // Where MPI may reorder, nobody says how it has.
        this.#define(newcomm, has && reorder === 0 ? id : undefined);
        break;
      }
      // They count, but who is in them does not stand in the trace.
      case 'MPI_Graph_create':
      case 'MPI_Cart_sub':
        this.#child(fields.oldcomm, name, undefined);
        this.#define(fields.newcomm, undefined);
        break;
      case 'MPI_Intercomm_create':
        this.#child(fields.localcomm, name, undefined);
        this.#define(fields.newcomm, undefined);
        break;
      case 'MPI_Intercomm_merge':
      case 'MPI_Comm_accept':
      case 'MPI_Comm_connect':
      case 'MPI_Comm_spawn':
      case 'MPI_Comm_spawn_multiple':
        this.#define(fields.newcomm, undefined);
        break;
      case 'MPI_Comm_free':
      case 'MPI_Comm_disconnect':
        this.#handles.delete(fields.comm);
        break;
      case 'MPI_Comm_group': {
        const of = this.#handles.get(fields.comm);
        this.#group(fields.group, of === undefined ? undefined : { of, ranks: undefined });
        break;
      }
      case 'MPI_Group_incl': {
        const from = this.#groupOf(fields.group);
        const ranks = fields.ranks.map((rank) => (from?.ranks ? (from.ranks[rank] ?? -1) : rank));
        this.#group(fields.newgroup, from && { of: from.of, ranks });
        break;
      }
      // Without the size of the communicator, what is left of a group is not known yet.
      case 'MPI_Group_excl': {
        const from = this.#groupOf(fields.group);
        const ranks = from?.ranks ?? (from?.of === WORLD ? this.#world : undefined);
        const without = new Set(fields.ranks);
        this.#group(fields.newgroup, from && ranks && { of: from.of, ranks, without });
        break;
      }
      case 'MPI_Group_union':
      case 'MPI_Group_intersection':
      case 'MPI_Group_difference':
      case 'MPI_Group_range_incl':
      case 'MPI_Group_range_excl':
        this.#group(fields.newgroup, undefined);
        break;
      case 'MPI_Comm_remote_group':
      case 'MPI_Win_get_group':
      case 'MPI_File_get_group':
        this.#group(fields.group, undefined);
        break;
      case 'MPI_Group_free':
        this.#group(fields.group, undefined);
        break;
      default:
    }
  }

  #define(handle: number, id: CommunicatorId | undefined): void {
    if (handle < Comm.FIRST_USER) return;
    if (id === undefined) this.#handles.delete(handle);
    else this.#handles.set(handle, id);
  }

  /** The group of a number, with those who belong to it looked up. */
  #groupOf(handle: number): KnownGroup | undefined {
    const group = this.#groups.get(handle);
    if (group?.ranks === undefined || group.without === undefined) return group;
    const { of, ranks, without } = group;
    this.#derivedRanks += ranks.length;
    const isBounded = this.#derivedRanks <= MAX_DERIVED_RANKS;
    const left = isBounded ? ranks.filter((_, at) => !without.has(at)) : undefined;
    this.#group(handle, left && { of, ranks: left });
    return this.#groups.get(handle);
  }

  #group(handle: number, group: KnownGroup | undefined): void {
    if (handle < Group.FIRST_USER) return;
    this.#groupRanks -= this.#ranksIn(this.#groups.get(handle));
    this.#groups.delete(handle);
    const more = this.#ranksIn(group);
    if (group === undefined || this.#groups.size >= MAX_KNOWN) return;
    if (this.#groupRanks + more > MAX_GROUP_RANKS) return;
    this.#groupRanks += more;
    this.#groups.set(handle, group);
  }

  /** Counts the ranks that a group keeps; those of the whole run are there once for all. */
  #ranksIn(group: KnownGroup | undefined): number {
    const { ranks, without } = group ?? {};
    const own = ranks === this.#world ? 0 : (ranks?.length ?? 0);
    return own + (without?.size ?? 0);
  }

  /** Counts a making of the parent, and says which that is. */
  #making(parent: CommunicatorId): string {
    const number = this.#children.get(parent) ?? 0;
    this.#children.set(parent, number + 1);
    return `${parent} ${number}`;
  }

  #child(
    oldcomm: number,
    how: string,
    ranks: readonly number[] | undefined,
  ): CommunicatorId | undefined {
    const parent = this.#handles.get(oldcomm);
    if (parent === undefined) return undefined;
    return this.#intern(`${this.#making(parent)} ${how}`, { parent, ranks, split: undefined });
  }

  #split(call: { oldcomm: number; color: number; key: number }): CommunicatorId | undefined {
    const { oldcomm, color, key } = call;
    const parent = this.#handles.get(oldcomm);
    if (parent === undefined) return undefined;
    const which = this.#making(parent);
    const making = entryOf(this.#splits, which, () => ({ said: new Map(), members: undefined }));
    this.#count(1);
    making.said.set(this.#rank, { color, key });
    return this.#intern(`${which} split ${color}`, {
      parent,
      ranks: undefined,
      split: { making, color },
    });
  }

  #intern(name: string, made: Made): CommunicatorId {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.#made.push(made) - 1;
    this.#count(1 + (made.ranks?.length ?? 0));
    if (this.#complete) this.#ids.set(name, id);
    return id;
  }

  #count(more: number): void {
    this.#known += more;
    if (this.#known <= MAX_KNOWN) return;
    this.#complete = false;
    this.#ids.clear();
    this.#splits.clear();
    this.#made.length = 0;
  }

  #find(id: CommunicatorId): readonly number[] | undefined {
    // Without recursion, for each may be made of the one before.
    const chain: CommunicatorId[] = [];
    for (let each = id; !this.#members.has(each); each = this.#made[each]!.parent) chain.push(each);
    let found = this.#members.get(this.#made[chain.at(-1)!]!.parent);
    for (const each of chain.reverse()) {
      found = found && membersAmong(found, this.#made[each]!);
      this.#members.set(each, found);
    }
    return found;
  }
}

/** Who of the parent's members is in it; undefined where one of them has not said. */
function membersAmong(
  parent: readonly number[],
  { ranks, split }: Made,
): readonly number[] | undefined {
  if (ranks !== undefined) {
    const members = ranks.map((rank) => parent[rank]);
    return members.includes(undefined) ? undefined : (members as number[]);
  }
  if (split === undefined) return parent;
  const { making, color } = split;
  // All colors at once, because each rank can have its own.
  making.members ??= membersByColor(parent, making.said);
  return making.members.get(color);
}

/** Empty where one of the parent's members has not said its color. */
function membersByColor(
  parent: readonly number[],
  said: Split['said'],
): ReadonlyMap<number, readonly number[]> {
  const members = new Map<number, number[]>();
  if (!parent.every((rank) => said.has(rank))) return members;
  for (const rank of parent) {
    const { color } = said.get(rank)!;
    addToList(members, color, rank);
  }
  for (const ranks of members.values()) {
    ranks.sort((a, b) => said.get(a)!.key - said.get(b)!.key);
  }
  return members;
}
