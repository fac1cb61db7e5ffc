// Package authority holds what decides on the calls of a run: rights, which are rules, a mode and what binds a run from
// above; the permissions that the user granted; and which folders the user trusts.
//
//   - Rights do not change. What users grant and take back meanwhile counts from the next call on, in whatever process
//     it was decided: [Decisions] are read before each call.
//   - A folder is trusted as it was shown. Once something else acts in it, nothing of it counts until the user has
//     looked again ([FolderTrust]).
//   - A run that goes on with another gets no more than that one had: by its own rules of then, and by those of today
//     ([Powers], [Boundary]).
//   - The room asks nobody. Who makes a call asks the user, and hands the answer over to [Decisions.Add].
package authority
