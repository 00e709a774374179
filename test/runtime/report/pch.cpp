// SPDX-License-Identifier: Apache-2.0
// Holds nothing: carries the precompiled header that the programs here share.
