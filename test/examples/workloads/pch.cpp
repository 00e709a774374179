// SPDX-License-Identifier: Apache-2.0
// The precompiled header of these programs needs a source.
