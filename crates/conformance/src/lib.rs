//! What every engine must hold, as a suite that its tests call.
