;;; emacs.el --- agentls in Emacs, by eglot and nothing else  -*- lexical-binding: t -*-

;; emacs --batch -Q -l emacs.el, in a workspace with cart.go, with AGENTLS_BIN set. An error ends it with a failure.

(require 'eglot)
(require 'flymake)

(setq native-comp-enable-subr-trampolines nil
      native-comp-jit-compilation nil
      debug-on-error t
      ;; An accepted edit is applied without another question.
      eglot-confirm-server-edits nil
      eglot-sync-connect 60
      eglot-autoshutdown nil)

;; What editors/README.md tells a user to write.
(define-derived-mode cart-mode prog-mode "Cart")
(add-to-list 'auto-mode-alist '("\\.go\\'" . cart-mode))
(add-to-list 'eglot-server-programs (list 'cart-mode (getenv "AGENTLS_BIN") "serve"))

(defun say (format &rest arguments)
  (message "%s" (apply #'format format arguments)))

(defun wait (what condition)
  "Process events until CONDITION holds; WHAT says in the error what did not come."
  (let ((deadline (+ (float-time) 120)) result)
    (while (not (or (setq result (funcall condition)) (> (float-time) deadline)))
      (accept-process-output nil 0.02))
    (unless result (error "Waited two minutes in vain for %s" what))
    (say "  %s" what)
    result))

(defvar progress nil "The messages of progress, the latest first.")
(advice-add 'eglot-handle-notification :before
            (lambda (_server method &rest params)
              (when (eq method '$/progress)
                (let ((value (plist-get params :value)))
                  (push (list (plist-get value :kind) (plist-get value :title) (plist-get value :message)) progress)))))

(defun progress-p (kind)
  (seq-find (lambda (one) (equal (car one) kind)) progress))

(defun diagnostics ()
  "The texts of the diagnostics that Flymake shows."
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(defun diagnostic (text)
  (seq-find (lambda (one) (string-match-p (regexp-quote text) (flymake-diagnostic-text one))) (flymake-diagnostics)))

(defun act (position title)
  "Take the code action TITLE at POSITION, as M-x eglot-code-actions would."
  (goto-char position)
  (let* ((actions (eglot-code-actions position position))
         (action (seq-find (lambda (one) (string-match-p (regexp-quote title) (plist-get one :title))) actions)))
    (unless action
      (error "%s is not among the actions %S" title (mapcar (lambda (one) (plist-get one :title)) actions)))
    (say "  chose %s" (plist-get action :title))
    (eglot-execute (eglot-current-server) action)))

(say "open the file")
(find-file "cart.go")
(defvar original (buffer-string))
;; M-x eglot, which a batch has no command loop for.
(apply #'eglot (eglot--guess-contact))
(wait "the server to be attached" (lambda () (and (eglot-current-server) eglot--managed-mode)))

(say "review it")
(act (point-min) "agentls: Review this file")
(wait "progress to begin" (lambda () (progress-p "begin")))
(wait "progress to end" (lambda () (progress-p "end")))
(wait "the finding among Flymake's diagnostics"
      (lambda () (flymake-start) (diagnostic "the second is bad")))
(say "  %S" (diagnostics))
(unless (equal (buffer-string) original)
  (error "The buffer changed before anything was accepted"))

(say "accept the edit")
(act (flymake-diagnostic-beg (diagnostic "the second is bad")) "agentls: Fix this finding")
(wait "the edit" (lambda () (string-match-p "// second is good" (buffer-string))))
(unless (buffer-modified-p)
  (error "The buffer counts as saved"))

(say "stop the server")
(eglot-shutdown (eglot-current-server) nil 30)
(set-buffer-modified-p nil)
;;; emacs.el ends here
