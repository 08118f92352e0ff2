/** Play, watch and own seats of PlayerThree matches over rooms of `@colyseus/sdk`. */

export { Connection, connect, type ConnectOptions, type StreamRequest } from "./connection.js";
export { applyDelta, DeltaError, MAX_DEPTH, MAX_EDITS, MAX_WEIGHT, type DeltaCode, type Json } from "./delta.js";
export { PlayerThreeError, type ClientCode, type ServerCode } from "./errors.js";
export { ObserverPlayer, type ObserverFrame, type ObserverState, type Sample } from "./observer.js";
export { SeatControl } from "./seat.js";
export { ViewStream, type Path } from "./views.js";
export type { CallOptions } from "./calls.js";
export type { Unsubscribe } from "./listeners.js";
export type { RoomLike } from "./room.js";
export type * from "./protocol.js";
