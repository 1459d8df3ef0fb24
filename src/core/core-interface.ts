/**
 * Number of the interface to the native core. It grows with each change of a call's arguments or of
 * their meaning, here and in native/addon/loaded_cores.cc. A binary of another number is not used.
 */
export const CORE_INTERFACE = 31;
