// What happens before there are sandboxes: the launcher's own state, trust, templates.
#include <fcntl.h>

#include <cerrno>

#include "drivers/linux/launcher/confine.h"
#include "drivers/linux/launcher/id_map.h"
#include "drivers/linux/launcher/launcher.h"

namespace belljar::launcher {

int Launcher::set_up(std::string& step) {
  step = place_.step;
  if (place_.error != 0) return place_.error;
  step = kTakeSlotStep;
  std::string missing;
  int error = EBUSY;
  // The sandboxes of a launcher that was killed may still be dying; their slot is left to a later
  // start.
  for (unsigned first = 0; error == EBUSY; first = slot_.number + 1) {
    if (const int none = take_slot(place_, slot_, first)) return none;
    error = cgroups_.set_up(place_, slot_.number, missing);
  }
  if (error != 0) {
    step = "find cgroup controllers: no " + missing;
    return error;
  }
  id_blocks_.resize(slot_.id_count / slot_.ids_per_sandbox);
  clean_free_slots(slot_, cgroups_);
  step = "compile the seccomp filters";
  error = compile_filters(filters_);
  if (error != 0) return error;
  step = "make the owner's user namespace";
  // belljar's own id: for root the one it is going to have, for others the caller.
  const bool has_outsider = place_.is_root ? own_id_ != 0 : place_.has_own_ids();
  const OwnerIds ids{slot_.first_id, slot_.id_count, has_outsider, own_id_};
  error = make_owner_namespace(place_.proc.get(), ids, owner_);
  if (error != 0) return error;
  step = "list /proc";
  error = find_proc_masks(masks_);
  if (error != 0) return error;
  landlock_abi_ = landlock_abi();
  set_up_done_ = true;
  return 0;
}

// belljar reads what programs write there with its rights over their ids, not as root.
int Launcher::make_view(int files, Fd& view) const {
  if (place_.is_root) return clone_id_mapped(place_.proc.get(), files, slot_.first_id, view);
  view.reset(::fcntl(files, F_DUPFD_CLOEXEC, 0));
  return view ? 0 : errno;
}

void Launcher::seal(Message& message) {
  const Request& request = message.request;
  if (set_up_done_ || trust_.sealed) return answer(request, EBUSY, "be sealed");
  if (place_.is_root) own_id_ = request.own_id;
  std::string step;
  if (const int error = set_up(step)) return answer(request, error, step);
  std::vector<Fd> views;
  for (size_t i = 1; i < message.fds.size(); ++i) {
    Fd view;
    if (const int error = make_view(message.fds[i].get(), view))
      return answer(ReplyType::failed, request.serial, i - 1, error, kMapOwnerStep);
    views.push_back(std::move(view));
    trust_.files.push_back(std::move(message.fds[i]));
  }
  trust_.data = std::move(message.fds[0]);
  trust_.sealed = true;
  Reply reply = make_reply(ReplyType::done, request.serial, 0);
  reply.own_id = place_.has_own_ids() ? kOutsiderId : 0;
  std::vector<int> fds{owner_.get()};
  for (const Fd& view : views) fds.push_back(view.get());
  send(reply, fds);
}

void Launcher::prepare(const Message& message) {
  const Request& request = message.request;
  std::string step;
  if (!set_up_done_) {
    if (const int error = set_up(step)) return answer(request, error, step);
  }
  Fd runtime;
  if (!message.fds.empty()) {
    const int given = message.fds[0].get();
    if (!trust_.allows_runtime(place_, given)) return answer(request, EPERM, "use that runtime");
    if (const int error = find_here(place_, given, runtime))
      return answer(request, error, "find the Node runtime");
  }
  Template made;
  const TemplateParts parts{runtime.get(), message.payload};
  if (const int error = build_template(place_.proc.get(), owner_.get(), parts, made, step))
    return answer(request, error, step);
  if (const int error = try_full_proc(owner_.get(), made, full_proc_))
    return answer(request, error, "try to mount /proc");
  templates_[request.image] = std::move(made);
  answer(request, 0, "");
}

}  // namespace belljar::launcher
